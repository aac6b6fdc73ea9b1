/** Two schemes by the system's wish; no font and no picture from anywhere. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --page: #ffffff; --raised: #f6f8fa; --line: #d1d9e0; --ink: #1f2328; --quiet: #59636e;
  --plain: #c4ccd4; --own: #2f6fdb; --budget: #cf222e; --target: #1f2328; --mark: #9a6700; --chosen: #fff3c4;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0d1117; --raised: #151b23; --line: #343b44; --ink: #e6edf3; --quiet: #9198a1;
    --plain: #454d57; --own: #4c8ef7; --budget: #ff7b72; --target: #e6edf3; --mark: #e3b341; --chosen: #3a3114;
  }
}
* { box-sizing: border-box }
body { margin: 0 auto; padding: 24px 20px 64px; max-width: 1120px; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif }
h1 { margin: 0; font-size: 22px; overflow-wrap: anywhere }
h2 { margin: 0 0 8px; font-size: 17px }
h3 { margin: 14px 0 4px; font-size: 14px }
.quiet, caption { color: var(--quiet) }
.warning { color: var(--budget) }
.headline { margin: 14px 0 2px; font-size: 18px; font-weight: 600 }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(170px, 1fr)); gap: 10px; margin: 18px 0;
  padding: 0; list-style: none }
.figures li { padding: 10px 14px; border: 1px solid var(--line); border-radius: 8px; background: var(--raised) }
.figures span { display: block; color: var(--quiet); font-size: 13px; line-height: 1.35 }
.figures b { font-size: 19px; font-variant-numeric: tabular-nums }
.figures s { display: inline-block; color: var(--quiet); font-size: 15px; text-decoration: none; font-weight: 400 }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 8px 0 0; padding: 0; list-style: none; font-size: 13px;
  color: var(--quiet) }
.note { margin: 4px 0 0; font-size: 13px }
.legend svg { width: 14px; height: 14px; margin-right: 6px; vertical-align: -2px }
#chart { border: 1px solid var(--line); border-radius: 8px; padding: 6px; cursor: crosshair; touch-action: pan-y }
#chart:focus-visible, button:focus-visible, summary:focus-visible { outline: 3px solid var(--own); outline-offset: 2px }
svg { display: block; width: 100%; height: auto; font: 12px system-ui, sans-serif }
.legend svg { display: inline-block }
svg text { fill: var(--quiet) }
#plot { fill: transparent }
.plain { fill: var(--plain) }
.own { fill: var(--own) }
.tick line { stroke: var(--line); stroke-width: 1; opacity: .6 }
.budget path { fill: none; stroke: var(--budget); stroke-width: 1.5; stroke-dasharray: 7 4 }
.target path { fill: none; stroke: var(--target); stroke-width: 1.5; stroke-dasharray: 2 4 }
.budget text { fill: var(--budget) }
.target text { fill: var(--target) }
svg .budget text, svg .target text { paint-order: stroke; stroke: var(--page); stroke-width: 4px; font-weight: 600 }
.batch { fill: var(--mark); stroke: var(--page); stroke-width: 1.5 }
.unknown { fill: var(--budget); opacity: .18 }
.window line { stroke: var(--quiet); stroke-dasharray: 1 3 }
#cursor { fill: var(--ink); opacity: .22; pointer-events: none }
#request { min-height: 190px; margin: 14px 0 26px; padding: 14px 18px; border: 1px solid var(--line); border-radius: 8px;
  background: var(--raised) }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 6px 16px; margin: 0 }
dt { font-size: 13px; color: var(--quiet) }
dd { margin: 0; font-variant-numeric: tabular-nums }
ul { margin: 0; padding-left: 20px }
code { font: 13px ui-monospace, monospace; overflow-wrap: anywhere }
fieldset { display: inline-flex; flex-wrap: wrap; gap: 4px 16px; margin: 0 0 8px; padding: 0; border: 0 }
label { cursor: pointer }
table { width: 100%; border-collapse: collapse; font-size: 14px }
.scroll { overflow-x: auto }
caption { padding: 0 0 6px; text-align: left; font-size: 13px }
th, td { padding: 5px 10px 5px 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top }
th { font-size: 13px; color: var(--quiet); font-weight: 600; white-space: nowrap }
.count { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
td.target { min-width: 220px }
td.why { white-space: nowrap }
tr.chosen td { background: var(--chosen) }
tr[data-state=kept] td { color: var(--quiet) }
button { padding: 0 4px; border: 0; border-radius: 4px; background: none; color: var(--own); font: inherit;
  font-variant-numeric: tabular-nums; text-decoration: underline; cursor: pointer }
`
