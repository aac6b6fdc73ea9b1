/** What the user gave cannot be worked with: one clear line, exit code 1. */
export class InputFault extends Error {
  override name = "InputFault"
}

/** The command line itself is wrong: the line and the usage, exit code 2. */
export class UsageFault extends Error {
  override name = "UsageFault"
}
