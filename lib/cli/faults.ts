/** What the user gave cannot be worked with: one clear line, exit code 1. */
export class InputFault extends Error {
  override name = "InputFault"
}

/** The command line itself is wrong: the line and the usage, exit code 2. */
export class UsageFault extends Error {
  override name = "UsageFault"
}

const FAILURES: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EISDIR: "it is a directory",
  ELOOP: "its links form a loop",
  ENAMETOOLONG: "the name is too long",
  ENOENT: "no such file or directory",
  ENOSPC: "no space is left",
  ENOTDIR: "a part of its path is no directory",
  EPERM: "permission denied",
  EROFS: "the disk is read-only",
}

/** Why the system refused a file, in a few words. */
export function explainFailure(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error"
  return FAILURES[code] ?? code
}
