/** Writes a call of the API in several languages, with the example of the OpenAPI document as its body. */
import type { Operation } from './document.ts'

export type Language = 'curl' | 'node' | 'python'
export const LANGUAGES = [
  ['curl', 'curl'],
  ['node', 'Node'],
  ['python', 'Python'],
] as const satisfies readonly (readonly [Language, string])[]

/** Environment variable that holds the key or token. */
const KEY = 'MAILHORN_KEY'

type Call = Pick<Operation, 'method' | 'path' | 'security' | 'requestBody'>

/** @param baseUrl without a slash at its end */
export function codeOf(language: Language, call: Call, baseUrl: string): string {
  // braces would be a pattern for curl
  const url = baseUrl + call.path.replace(/\{(\w+)\}/g, (_, name: string) => name.toUpperCase())
  const body = call.requestBody?.content['application/json']?.example
  return WRITERS[language]({ method: call.method, url, body, hasKey: call.security.length > 0 })
}

interface Written {
  method: string
  url: string
  body: unknown
  hasKey: boolean
}

const WRITERS: Readonly<Record<Language, (call: Written) => string>> = {
  curl({ method, url, body, hasKey }) {
    const json = body === undefined ? undefined : JSON.stringify(body, null, 2).replaceAll("'", "'\\''")
    return [
      `curl -X ${method} '${url}'`,
      ...(hasKey ? [`  -H "Authorization: Bearer $${KEY}"`] : []),
      ...(json === undefined ? [] : ["  -H 'Content-Type: application/json'", `  -d '${json}'`]),
    ].join(' \\\n')
  },
  node({ method, url, body, hasKey }) {
    const headers = [
      ...(hasKey ? [`authorization: \`Bearer \${process.env.${KEY}}\``] : []),
      ...(body === undefined ? [] : ["'content-type': 'application/json'"]),
    ]
    return [
      `const response = await fetch('${url}', {`,
      `  method: '${method}',`,
      ...(headers.length > 0 ? [`  headers: { ${headers.join(', ')} },`] : []),
      ...(body === undefined
        ? []
        : [`  body: JSON.stringify(${indented(JSON.stringify(body, null, 2), 2)}),`]),
      '})',
      'console.log(await response.json())',
    ].join('\n')
  },
  python({ method, url, body, hasKey }) {
    return [
      ...(hasKey ? ['import os'] : []),
      'import requests',
      '',
      'response = requests.request(',
      `    "${method}",`,
      `    "${url}",`,
      ...(hasKey ? [`    headers={"Authorization": f"Bearer {os.environ['${KEY}']}"},`] : []),
      ...(body === undefined ? [] : [`    json=${indented(pythonText(body), 4)},`]),
      ')',
      'print(response.json())',
    ].join('\n')
  },
}

function indented(text: string, columns: number): string {
  return text.replaceAll('\n', `\n${' '.repeat(columns)}`)
}

/** Returns the value as a Python literal. */
function pythonText(value: unknown, depth = 1): string {
  const pad = '    '.repeat(depth)
  const end = '    '.repeat(depth - 1)
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]'
    return `[\n${value.map(one => `${pad}${pythonText(one, depth + 1)},\n`).join('')}${end}]`
  }
  if (typeof value !== 'object') return JSON.stringify(value)
  const entries = Object.entries(value)
  if (entries.length === 0) return '{}'
  return `{\n${entries.map(([name, one]) => `${pad}${JSON.stringify(name)}: ${pythonText(one, depth + 1)},\n`).join('')}${end}}`
}
