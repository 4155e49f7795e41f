/** Generates docs/configuration.md from the schema. */
import { environmentName, settingsFor } from './config.ts'
import type { Setting } from './setting.ts'
import { fileSources } from './sources.ts'

const INTRODUCTION = `# Configuration

Settings come from \`config/default.json\`, then from \`config/local.json\` (or the file named by \`MAILHORN_CONFIG\`),
then from the environment; the last one wins. In files, keys are nested or dotted (\`{"http": {"listen": "…"}}\` or
\`{"http.listen": "…"}\`). In the environment \`section.key\` is \`MAILHORN_SECTION_KEY\`, lists are comma-separated,
and \`MAILHORN_SECTION_KEY_FILE\` names a file that holds the value, which is meant for secrets.

An unknown key in a file is an error that names the nearest match; an unknown \`MAILHORN_…\` variable is a warning.
Settings marked *planned* are read and checked, and have no effect yet.

This page is made by \`npm run docs\`.
`

/** @param root folder that holds `config/` */
export function configurationPage(root: string): string {
  const problems: string[] = []
  const files = fileSources(root, undefined, problems).filter(({ name }) => name === 'config/default.json')
  const settings = settingsFor(files, problems)
  if (problems.length > 0) throw new Error(problems.join('\n'))
  const shipped = files[0]?.values ?? new Map<string, unknown>()
  const rows = [...settings].map(([key, setting]) => row(key, setting, shipped.get(key)))
  return `${INTRODUCTION}
| setting | environment | default | meaning |
|---|---|---|---|
${rows.join('\n')}
`
}

function row(key: string, setting: Setting<unknown>, shipped: unknown): string {
  const { doc, unit, planned } = setting
  const meaning = [doc, unit && `In ${unit}.`, planned && '*Planned.*'].filter(Boolean).join(' ')
  return `| \`${key}\` | \`${environmentName(key)}\` | ${defaultOf(setting, shipped)} | ${meaning} |`
}

function defaultOf({ shown, fallback }: Setting<unknown>, shipped: unknown): string {
  if (shipped !== undefined) return shipped === null ? 'none' : `\`${shipped}\``
  if (shown !== undefined) return /[ `']/.test(shown) || shown === 'off' ? shown : `\`${shown}\``
  return `\`${fallback}\``
}
