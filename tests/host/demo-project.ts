import type { ProjectFiles } from "./home.ts"
import { bash, call, read, type ScriptedCall, type Step } from "./model-script.ts"

const MODULES = [
  "cart",
  "catalog",
  "checkout",
  "customer",
  "discount",
  "invoice",
  "payment",
  "shipment",
  "stock",
  "tax",
]

/** A small shop: enough source to fill a context when a model works through it. */
export function createDemoProject(): ProjectFiles {
  const files: ProjectFiles = {
    "README.md": "# Shop\n\nPrices are in cents. Rounding happens once, in `invoice.ts`.\n",
    "docs/rounding.md": describeDecision(),
  }
  for (const [index, name] of MODULES.entries()) files[`src/${name}.ts`] = describeModule(name, 70 + 4 * index)
  return files
}

/** Looking around first; the second part repeats what a model repeats: it reads again what it had seen before. */
export function scriptDemo(withSearch: boolean): { explore: Step[]; fix: Step[] } {
  const explore: Step[] = [
    { text: "I start with the decision record.", tools: [read("docs/rounding.md"), bash("ls -l src")] },
    ...MODULES.slice(0, 5).map((name) => ({ tools: [source(name)] })),
    { text: "Where is the total computed?", tools: [searchFor("roundCents", withSearch), source("cart")] },
  ]
  const rounds = ["payment", "invoice", "tax", "stock", "shipment", "discount"].map((name, round): Step[] => [
    { text: `Round ${round + 1}: ${name}.`, tools: [source(name), source("checkout")] },
    { tools: [searchFor(`${name}Total`, withSearch), bash(runTests(round))] },
    { tools: [bash(`wc -c src/${name}.ts docs/rounding.md`), source("cart")] },
  ])
  const fix = [...rounds.flat(), { text: "A last look at the result.", tools: [bash("ls -l src"), source("invoice")] }]
  return { explore, fix }
}

const source = (name: string): ScriptedCall => read(`src/${name}.ts`)

function searchFor(pattern: string, withSearch: boolean): ScriptedCall {
  return withSearch ? call("grep", { pattern, path: "src" }) : bash(`grep -n ${pattern} -r src | sort`)
}

const runTests = (round: number): string =>
  `for n in $(seq 1 60); do echo "ok $n - run ${round + 1}: an order of $n items is charged $((n * 199)) cents in total"; done`

function describeModule(name: string, functions: number): string {
  const lines = [`// ${name}: amounts are whole cents.`, ""]
  for (let n = 1; n <= functions; n++)
    lines.push(`export const ${name}Total${n} = (cents: number): number => roundCents(cents * ${n}) + ${n % 7}`)
  return `${lines.join("\n")}\n`
}

function describeDecision(): string {
  const reasons = ["orders", "refunds", "vouchers", "partial deliveries", "currency changes", "tax groups"]
  const lines = reasons.flatMap((reason) => [
    `## ${reason}`,
    "",
    `Amounts of ${reason} stay unrounded until the invoice is written, because rounding twice loses a cent now and then.`,
    `An audit compares the sum of all ${reason} with the ledger every night; a difference of one cent stops the export.`,
    "",
  ])
  return `# Why rounding happens once\n\n${lines.join("\n")}`
}
