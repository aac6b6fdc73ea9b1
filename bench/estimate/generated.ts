import type { Random } from "./random.ts"

/** A tuning text and a judging text of one kind: not only other values, but another layout, as another tool would print it. */
interface Generated {
  tuning: (random: Random) => string
  judging: (random: Random) => string
}

const HEX = "0123456789abcdef"
const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
const LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
const NAMES = ["alice", "Bruno", "chen", "Dorothea", "emeka", "Fatima", "goran", "Hiroko", "ivan", "Juana"]
const THINGS = ["order", "session", "invoice", "worker", "cache", "customer", "upload", "report", "index", "token"]
const VERBS = [
  "created",
  "failed",
  "retried",
  "expired",
  "updated",
  "skipped",
  "loaded",
  "rejected",
  "closed",
  "started",
]
const FOLDERS = ["src", "lib", "core", "server", "routes", "handlers", "models", "internal", "shared", "adapters"]
const METHODS = ["GET", "GET", "POST", "PUT", "DELETE"]
const LEVELS = ["INFO", "INFO", "DEBUG", "WARN", "ERROR"]

/** Kinds that a program prints. */
export const GENERATED: Record<string, Generated> = {
  logs: {
    tuning: (random) => lines(70, () => accessLine(random)),
    judging: (random) => lines(70, () => serviceLine(random)),
  },
  "hex digests": {
    tuning: (random) => lines(80, () => `${random.string(40, HEX)} refs/heads/${word(random)}-${random.below(900)}`),
    judging: (random) => lines(60, () => `${random.string(64, HEX)}  ./${path(random)}.bin`),
  },
  "hex numbers": {
    tuning: (random) => random.string(2_000, HEX) + random.string(2_000, HEX.toUpperCase()),
    judging: (random) => lines(40, () => list(6, () => `0x${random.string(random.pick([2, 8, 16]), HEX)}`)),
  },
  "hex dump": {
    tuning: (random) => lines(60, (row) => groupedDump(random, row)),
    judging: (random) => lines(60, (row) => bytesDump(random, row)),
  },
  base64: {
    tuning: (random) => lines(60, () => random.string(64, BASE64)),
    judging: (random) => `data:application/octet-stream;base64,${random.string(4_000, BASE64)}==`,
  },
  uuids: {
    tuning: (random) => lines(100, () => uuid(random)),
    judging: (random) => lines(70, () => `${word(random)}_id=${uuid(random)} ${random.pick(VERBS)}`),
  },
  CSV: {
    tuning: (random) => `id,name,city,amount,date,paid\n${lines(90, (row) => orderRow(random, row))}`,
    judging: (random) => `station;epoch;temp_c;hpa;lat;lon;flag\n${lines(90, () => sensorRow(random))}`,
  },
  "JSON, generated": {
    tuning: (random) => JSON.stringify(Array.from({ length: 50 }, () => userRecord(random))),
    judging: (random) =>
      JSON.stringify(
        Array.from({ length: 50 }, () => eventRecord(random)),
        undefined,
        2,
      ),
  },
  paths: {
    tuning: (random) => lines(120, () => `/home/dev/project/${path(random)}.ts`),
    judging: (random) => lines(120, () => `./packages/${word(random)}/${path(random)}.test.tsx:${random.below(400)}:`),
  },
  "stack traces": {
    tuning: (random) => lines(16, () => scriptTrace(random)),
    judging: (random) => lines(12, () => classTrace(random)),
  },
  "padded tables": {
    tuning: (random) => lines(80, () => listingRow(random)),
    judging: (random) => lines(60, () => podRow(random)),
  },
}

function lines(count: number, line: (row: number) => string): string {
  return Array.from({ length: count }, (_, row) => `${line(row)}\n`).join("")
}

function list(count: number, item: () => string): string {
  return Array.from({ length: count }, item).join(", ")
}

function accessLine(random: Random): string {
  const address = [10, random.below(256), random.below(256), random.below(256)].join(".")
  const when = `${two(random, 28)}/Mar/2026:${clock(random)} +0000`
  const request = `${random.pick(METHODS)} /api/v2/${word(random)}s/${random.below(90_000)} HTTP/1.1`
  return `${address} - - [${when}] "${request}" ${random.pick([200, 200, 201, 304, 404, 500])} ${random.below(60_000)}`
}

function serviceLine(random: Random): string {
  const when = `2026-${two(random, 12)}-${two(random, 28)}T${clock(random)}.${three(random)}Z`
  const fields = `req=${random.string(12, LETTERS)} duration_ms=${random.below(9_000)} attempt=${random.below(4)}`
  return `${when} ${random.pick(LEVELS)} [${word(random)}-${random.below(32)}] ${word(random)} ${random.pick(VERBS)} ${fields}`
}

function groupedDump(random: Random, row: number): string {
  const groups = Array.from({ length: 8 }, () => random.string(4, HEX)).join(" ")
  return `${(row * 16).toString(16).padStart(8, "0")}: ${groups}  ${random.string(16, `${LETTERS}....`)}`
}

function bytesDump(random: Random, row: number): string {
  const bytes = Array.from({ length: 16 }, () => random.string(2, HEX))
  const halves = `${bytes.slice(0, 8).join(" ")}  ${bytes.slice(8).join(" ")}`
  return `${(row * 16).toString(16).padStart(8, "0")}  ${halves}  |${random.string(16, `${LETTERS}..~$`)}|`
}

function uuid(random: Random): string {
  return [8, 4, 4, 4, 12].map((length) => random.string(length, HEX)).join("-")
}

function orderRow(random: Random, row: number): string {
  const amount = `${random.below(900)}.${two(random, 99)}`
  const date = `2026-${two(random, 12)}-${two(random, 28)}`
  return `${10_000 + row},${random.pick(NAMES)},${random.pick(["Lagos", "Lyon", "Osaka", "Quito"])},${amount},${date},${random.pick(["true", "false"])}`
}

function sensorRow(random: Random): string {
  const place = `${random.below(90)}.${random.below(100_000)};${random.below(180)}.${random.below(100_000)}`
  const station = `${random.string(3, "ABCDEFGHKLMNPRSTUVWXYZ")}${random.below(100)}`
  return `${station};${1_760_000_000 + random.below(9_000_000)};${random.below(40)}.${random.below(10)};${980 + random.below(50)}.${random.below(100)};${place};${random.pick(["", "Q", "M"])}`
}

function userRecord(random: Random): unknown {
  const name = random.pick(NAMES)
  return {
    id: random.below(1_000_000),
    name,
    email: `${name.toLowerCase()}${random.below(99)}@example.org`,
    roles: [random.pick(["admin", "editor", "viewer"])],
    active: random.below(2) === 1,
    createdAt: `2025-${two(random, 12)}-${two(random, 28)}T${clock(random)}Z`,
  }
}

function eventRecord(random: Random): unknown {
  return {
    type: `${random.pick(THINGS)}.${random.pick(VERBS)}`,
    seq: random.below(500_000),
    source: { host: `node-${random.below(40)}`, pid: random.below(65_000), path: path(random) },
    metrics: { cpu: random.below(10_000) / 10_000, bytes: random.below(10_000_000), tags: [word(random), null] },
  }
}

function scriptTrace(random: Random): string {
  const frame = (): string =>
    `    at ${title(word(random))}.${random.pick(VERBS)} (/app/${path(random)}.js:${random.below(900)}:${random.below(80)})`
  return `TypeError: Cannot read properties of undefined (reading '${word(random)}')\n${lines(6, frame)}`
}

function classTrace(random: Random): string {
  const frame = (): string =>
    `\tat org.example.${random.pick(FOLDERS)}.${title(word(random))}${title(word(random))}Service.${random.pick(VERBS)}(${title(word(random))}Service.java:${random.below(700)})`
  return `java.lang.IllegalStateException: ${word(random)} ${random.pick(VERBS)} twice\n${lines(9, frame)}`
}

function listingRow(random: Random): string {
  const size = String(random.below(900_000)).padStart(8)
  return `-rw-r--r--  1 dev  staff ${size} ${random.pick(["Jan", "Feb", "Mar"])} ${two(random, 28)} ${clock(random).slice(0, 5)} ${word(random)}-${word(random)}.ts`
}

function podRow(random: Random): string {
  const name = `${word(random)}-${random.string(9, LETTERS)}-${random.string(5, LETTERS)}`
  const status = random.pick(["Running", "Running", "CrashLoopBackOff", "Completed"])
  return `${random.pick(FOLDERS).padEnd(16)}${name.padEnd(40)}${`${random.below(3)}/2`.padEnd(8)}${status.padEnd(20)}${String(random.below(60)).padEnd(12)}${random.below(90)}d`
}

function path(random: Random): string {
  return `${random.pick(FOLDERS)}/${random.pick(FOLDERS)}/${word(random)}-${random.pick(VERBS)}`
}

function word(random: Random): string {
  return random.pick(THINGS)
}

function title(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function clock(random: Random): string {
  return `${two(random, 24)}:${two(random, 60)}:${two(random, 60)}`
}

function two(random: Random, end: number): string {
  return String(random.below(end)).padStart(2, "0")
}

function three(random: Random): string {
  return String(random.below(1_000)).padStart(3, "0")
}
