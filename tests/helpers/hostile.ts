/** Whatever moves a cursor, ends a line, hides or turns round what a reader sees, or is no character at all. */
export const STEERING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u

/** Sequences for terminals: a title, a colour by one byte, a deletion, and text that runs backwards. */
export const PATH_HOSTILE = "\u001B]0;owned\u0007\u009B31m\u007F\u202Egnp\u2066\u200F\u200B\uFEFF\u2028\r\n\u{E0041}"

/** The same, what ends a script, an attribute, a comment or a template, and half a character. */
export const HOSTILE = `</script><!--<script>alert(1)</script>"'><img src=x onerror=alert(1)>\`\${7*7}{{7*7}}]]>&lt;$&$1\0\uD800 ${PATH_HOSTILE}`
