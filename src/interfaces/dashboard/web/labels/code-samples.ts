/**
 * Writes a call of the API in several languages. All samples of the dashboard and the API reference are made
 * here. Besides Node, which uses the SDK, they need only what comes with the language.
 */
import { type LiteralStyle, literalOf } from './literals.ts'

export const LANGUAGES = [
  ['curl', 'curl'],
  ['node', 'Node'],
  ['python', 'Python'],
  ['php', 'PHP'],
  ['go', 'Go'],
  ['ruby', 'Ruby'],
] as const
export type Language = (typeof LANGUAGES)[number][0]

export interface SampleCall {
  method: string
  /** Address of the service without a slash at its end. */
  baseUrl: string
  /** Path with the values of its parameters, and a query if there is one. */
  path: string
  /** JSON value or `SampleFile`. Undefined for a call without a body. */
  body?: unknown
  /** Key or token; undefined to read it from the environment, null for a call that needs none. */
  token?: string | null | undefined
  /** Whether the reply is no JSON, such as CSV. */
  isTextReply?: boolean
}

/** A body that is read from a file, or a form with the file as `file`. */
export class SampleFile {
  readonly name: string
  readonly type: string

  constructor(name: string, type: string) {
    this.name = name
    this.type = type
  }
}

/** Environment variable that holds the key or token. */
export const KEY = 'MAILHORN_KEY'
const JSON_TYPE = 'application/json'
const FORM_TYPE = 'multipart/form-data'

/** Returns code that makes the call and prints the reply. A form is sent by curl in each language. */
export function sampleOf(language: Language, call: SampleCall): string {
  const isForm = call.body instanceof SampleFile && call.body.type === FORM_TYPE
  return WRITERS[isForm ? 'curl' : language](call)
}

const typeOf = (body: unknown) => (body instanceof SampleFile ? body.type : JSON_TYPE)

const WRITERS: Readonly<Record<Language, (call: SampleCall) => string>> = {
  curl({ method, baseUrl, path, body, token }) {
    const given = token === undefined ? `$${KEY}` : token
    return [
      `curl -X ${method} '${baseUrl}${path}'`,
      ...(given === null ? [] : [`  -H "Authorization: Bearer ${given}"`]),
      ...curlBody(body),
    ].join(' \\\n')
  },
  node(call) {
    return call.token === null || call.isTextReply || call.body instanceof SampleFile
      ? nodeFetch(call)
      : nodeSdk(call)
  },
  python({ method, baseUrl, path, body, token, isTextReply }) {
    const headers = [
      ...(token === null
        ? []
        : [
            `"Authorization": ${token === undefined ? `f"Bearer {os.environ['${KEY}']}"` : `"Bearer ${token}"`}`,
          ]),
      ...(body === undefined ? [] : [`"Content-Type": "${typeOf(body)}"`]),
    ]
    const data =
      body instanceof SampleFile
        ? `open("${body.name}", "rb")`
        : `json.dumps(${literalOf(body, PYTHON, 1)}).encode()`
    return [
      ...(isTextReply && (body === undefined || body instanceof SampleFile) ? [] : ['import json']),
      ...(token === undefined ? ['import os'] : []),
      'import urllib.request',
      '',
      'request = urllib.request.Request(',
      `    "${baseUrl}${path}",`,
      `    method="${method}",`,
      ...(headers.length > 0 ? [`    headers={${headers.join(', ')}},`] : []),
      ...(body === undefined ? [] : [`    data=${data},`]),
      ')',
      'with urllib.request.urlopen(request) as response:',
      isTextReply ? '    print(response.read().decode())' : '    print(json.load(response))',
    ].join('\n')
  },
  php({ method, baseUrl, path, body, token }) {
    const headers = [
      ...(token === null
        ? []
        : [`'Authorization: Bearer ${token === undefined ? `' . getenv('${KEY}')` : `${token}'`}`]),
      ...(body === undefined ? [] : [`'Content-Type: ${typeOf(body)}'`]),
    ]
    const content =
      body instanceof SampleFile
        ? `file_get_contents('${body.name}')`
        : `json_encode(${literalOf(body, PHP, 1)})`
    return [
      '<?php',
      '',
      `$request = curl_init('${baseUrl}${path}');`,
      'curl_setopt_array($request, [',
      `    CURLOPT_CUSTOMREQUEST => '${method}',`,
      ...(headers.length > 0 ? [`    CURLOPT_HTTPHEADER => [${headers.join(', ')}],`] : []),
      ...(body === undefined ? [] : [`    CURLOPT_POSTFIELDS => ${content},`]),
      '    CURLOPT_RETURNTRANSFER => true,',
      ']);',
      'echo curl_exec($request), PHP_EOL;',
    ].join('\n')
  },
  go({ method, baseUrl, path, body, token }) {
    const imports = [
      ...['fmt', 'io', 'net/http'],
      ...(token === undefined || body instanceof SampleFile ? ['os'] : []),
      ...(body === undefined || body instanceof SampleFile ? [] : ['strings']),
    ]
    const reader =
      body === undefined ? 'nil' : body instanceof SampleFile ? 'file' : `strings.NewReader(${goText(body)})`
    return [
      'package main',
      '',
      'import (',
      ...imports.map(name => `\t"${name}"`),
      ')',
      '',
      'func main() {',
      ...(body instanceof SampleFile
        ? [`\tfile, err := os.Open("${body.name}")`, ...GO_FAILURE, '\tdefer file.Close()']
        : []),
      `\trequest, err := http.NewRequest("${method}", "${baseUrl}${path}", ${reader})`,
      ...GO_FAILURE,
      ...(token === null
        ? []
        : [
            `\trequest.Header.Set("Authorization", ${token === undefined ? `"Bearer "+os.Getenv("${KEY}")` : `"Bearer ${token}"`})`,
          ]),
      ...(body === undefined ? [] : [`\trequest.Header.Set("Content-Type", "${typeOf(body)}")`]),
      '\tresponse, err := http.DefaultClient.Do(request)',
      ...GO_FAILURE,
      '\tdefer response.Body.Close()',
      '\treply, err := io.ReadAll(response.Body)',
      ...GO_FAILURE,
      '\tfmt.Println(string(reply))',
      '}',
    ].join('\n')
  },
  ruby({ method, baseUrl, path, body, token }) {
    const isJson = body !== undefined && !(body instanceof SampleFile)
    return [
      ...(isJson ? ["require 'json'"] : []),
      "require 'net/http'",
      '',
      `uri = URI('${baseUrl}${path}')`,
      `request = Net::HTTP::${method[0]}${method.slice(1).toLowerCase()}.new(uri)`,
      ...(token === null
        ? []
        : [
            `request['Authorization'] = ${token === undefined ? `"Bearer #{ENV.fetch('${KEY}')}"` : `'Bearer ${token}'`}`,
          ]),
      ...(body === undefined ? [] : [`request['Content-Type'] = '${typeOf(body)}'`]),
      ...(isJson ? [`request.body = JSON.generate(${literalOf(body, RUBY)})`] : []),
      ...(body instanceof SampleFile ? [`request.body = File.read('${body.name}')`] : []),
      "response = Net::HTTP.start(uri.host, uri.port, use_ssl: uri.scheme == 'https') do |http|",
      '  http.request(request)',
      'end',
      'puts response.body',
    ].join('\n')
  },
}

function curlBody(body: unknown): string[] {
  if (body === undefined) return []
  if (body instanceof SampleFile && body.type === FORM_TYPE) return [`  -F 'file=@${body.name}'`]
  const data =
    body instanceof SampleFile
      ? `--data-binary '@${body.name}'`
      : `-d '${JSON.stringify(body, null, 2).replaceAll("'", "'\\''")}'`
  return [`  -H 'Content-Type: ${typeOf(body)}'`, `  ${data}`]
}

const GO_FAILURE = ['\tif err != nil {', '\t\tpanic(err)', '\t}']

/** A raw string cannot contain backticks. */
function goText(body: unknown): string {
  const json = JSON.stringify(body, null, 2)
  return json.includes('`') ? JSON.stringify(json) : `\`${json}\``
}

/** Fields of an email that the SDK spells otherwise. */
const SDK_NAMES: Readonly<Record<string, string>> = {
  reply_to: 'replyTo',
  scheduled_at: 'scheduledAt',
  topic_id: 'topicId',
}
/** Fields of an email that the SDK sends. */
const SDK_FIELDS = new Set([
  ...['from', 'to', 'cc', 'bcc', 'subject', 'html', 'text', 'headers', 'tags', 'template'],
  ...Object.keys(SDK_NAMES),
])
/** Lists for which the SDK has a method; others are read by path. */
const SDK_LISTS: Readonly<Record<string, string>> = {
  '/api-keys': 'apiKeys',
  '/broadcasts': 'broadcasts',
  '/contacts': 'contacts',
  '/domains': 'domains',
  '/emails': 'emails',
  '/templates': 'templates',
  '/webhooks': 'webhooks',
}

function nodeSdk({ method, baseUrl, path, body, token }: SampleCall): string {
  const key = token === undefined ? `process.env.${KEY}` : `'${token}'`
  return [
    "import { Resend } from 'resend'",
    '',
    `const resend = new Resend(${key}, { baseUrl: '${baseUrl}' })`,
    `const { data, error } = await resend.${sdkCall(method, path, body)}`,
    'console.log(error ?? data)',
  ].join('\n')
}

function sdkCall(method: string, path: string, body: unknown): string {
  const call = `${method} ${path}`
  if (call === 'POST /emails' && isSdkEmail(body)) return `emails.send(${literalOf(named(body), NODE)})`
  if (call === 'POST /emails/batch' && Array.isArray(body) && body.every(isSdkEmail))
    return `batch.send(${literalOf(body.map(named), NODE)})`
  const list = method === 'GET' ? SDK_LISTS[path] : undefined
  if (list) return `${list}.list()`
  return `${method.toLowerCase()}('${path}'${body === undefined ? '' : `, ${literalOf(body, NODE)}`})`
}

function isSdkEmail(body: unknown): body is Record<string, unknown> {
  return typeof body === 'object' && body !== null && Object.keys(body).every(field => SDK_FIELDS.has(field))
}

function named(email: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(email).map(([name, value]) => [SDK_NAMES[name] ?? name, value]))
}

function nodeFetch({ method, baseUrl, path, body, token, isTextReply }: SampleCall): string {
  const headers = [
    ...(token === null
      ? []
      : [
          `authorization: ${token === undefined ? `\`Bearer \${process.env.${KEY}}\`` : `'Bearer ${token}'`}`,
        ]),
    ...(body === undefined ? [] : [`'content-type': '${typeOf(body)}'`]),
  ]
  const content =
    body instanceof SampleFile
      ? `await readFile('${body.name}')`
      : `JSON.stringify(${literalOf(body, NODE, 1)})`
  return [
    ...(body instanceof SampleFile ? ["import { readFile } from 'node:fs/promises'", ''] : []),
    `const response = await fetch('${baseUrl}${path}', {`,
    `  method: '${method}',`,
    ...(headers.length > 0 ? [`  headers: { ${headers.join(', ')} },`] : []),
    ...(body === undefined ? [] : [`  body: ${content},`]),
    '})',
    `console.log(await response.${isTextReply ? 'text' : 'json'}())`,
  ].join('\n')
}

/** Quotes a text as JSON does, whose escape sequences these languages have, too. */
const doubleQuoted = (text: string) => JSON.stringify(text)
const singleQuoted = (text: string) =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`

const NODE: LiteralStyle = {
  ...{ nothing: 'null', yes: 'true', no: 'false', text: singleQuoted, indent: '  ' },
  ...{ object: '{}', noEntries: '{}' },
  key: name => `${/^[A-Za-z_]\w*$/.test(name) ? name : singleQuoted(name)}: `,
}
const PYTHON: LiteralStyle = {
  ...{ nothing: 'None', yes: 'True', no: 'False', text: doubleQuoted, indent: '    ' },
  ...{ object: '{}', noEntries: '{}', key: name => `${doubleQuoted(name)}: ` },
}
/** PHP knows escape sequences in double quotes only, where a dollar sign begins a variable. */
const phpText = (text: string) =>
  /[\n\r\t]/.test(text)
    ? `"${text
        .replace(/[\\"$]/g, '\\$&')
        .replaceAll('\n', '\\n')
        .replaceAll('\r', '\\r')
        .replaceAll('\t', '\\t')}"`
    : `'${text.replace(/[\\']/g, '\\$&')}'`
const PHP: LiteralStyle = {
  ...{ nothing: 'null', yes: 'true', no: 'false', text: phpText, indent: '    ' },
  ...{ object: '[]', noEntries: 'new stdClass()', key: name => `${phpText(name)} => ` },
}
/** A number sign before a brace, `$` or `@` begins an expression. */
const rubyText = (text: string) => JSON.stringify(text).replace(/#(?=[{$@])/g, '\\#')
const RUBY: LiteralStyle = {
  ...{ nothing: 'nil', yes: 'true', no: 'false', text: rubyText, indent: '  ' },
  ...{ object: '{}', noEntries: '{}', key: name => `${rubyText(name)} => ` },
}
