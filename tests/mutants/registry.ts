/** Stands for `node:test` in the bundle that is run for each mutant: the tests are collected, and `trial.ts` runs them. */
export interface RegisteredTest {
  /** Name of the test file without its endings. */
  file: string
  name: string
  run: (context: unknown) => unknown
}

export const registered: RegisteredTest[] = []
let currentFile = ""

export function beginFile(name: string): void {
  currentFile = name
}

export default function test(name: string, run: RegisteredTest["run"]): void {
  registered.push({ file: currentFile, name, run })
}
