/** Makes a call with the visitor's own credential, and shows the reply. */
import { useState } from 'preact/hooks'
import type { Operation } from './document.ts'
import { exampleBody } from './example-body.ts'
import type { Replay } from './replay.ts'
import { Example, Text } from './text.tsx'

interface TryItProps {
  operation: Operation
  credential: string
  /** Logged request that the form begins with. */
  replay: Replay | undefined
}

interface Result {
  status: string
  body: string
}

const JSON_TYPE = 'application/json'

export function TryIt({ operation, credential, replay }: TryItProps) {
  const { method, parameters = [], requestBody, security } = operation
  const [values, setValues] = useState<Record<string, string>>(replay?.values ?? {})
  const media = requestBody?.content[JSON_TYPE]
  const [body, setBody] = useState(
    media ? (replay?.body ?? JSON.stringify(exampleBody(media.example) ?? {}, null, 2)) : '',
  )
  const [result, setResult] = useState<Result>()
  const [isBusy, setBusy] = useState(false)
  if (requestBody && !media) return <p class="faint">Operations that take files cannot be tried here.</p>
  const needsKey = security.length > 0 && credential === ''
  const send = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    setResult(await call(operation, values, media && body, credential))
    setBusy(false)
  }
  return (
    <form class="try" onSubmit={event => void send(event)}>
      <h3>Try it</h3>
      {replay && (
        <p role="note">
          <Text>{replay.note}</Text>
        </p>
      )}
      {parameters.map(({ name, in: place, required }) => (
        <label key={`${place} ${name}`}>
          <span>{name}</span>
          <input
            required={required}
            value={values[name] ?? ''}
            onInput={event => setValues({ ...values, [name]: event.currentTarget.value })}
          />
        </label>
      ))}
      {media && (
        <label>
          <span>Request body</span>
          <textarea
            rows={Math.min(16, body.split('\n').length + 1)}
            value={body}
            onInput={event => setBody(event.currentTarget.value)}
          />
        </label>
      )}
      <button type="submit" class="button button-main" disabled={isBusy || needsKey}>
        Send {method} request
      </button>
      {needsKey && <span class="faint"> Enter a key or a token at the top of the page first.</span>}
      {result && (
        <output>
          <strong>{result.status}</strong>
          <Example>{result.body}</Example>
        </output>
      )}
    </form>
  )
}

async function call(
  { method, path, parameters = [] }: Operation,
  values: Readonly<Record<string, string>>,
  body: string | undefined,
  credential: string,
): Promise<Result> {
  const given = parameters.filter(({ name }) => values[name])
  const url = new URL(
    path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? '')),
    location.origin,
  )
  for (const { name } of given.filter(one => one.in === 'query')) url.searchParams.set(name, values[name]!)
  const headers = new Headers(
    given.filter(one => one.in === 'header').map(({ name }) => [name, values[name]!]),
  )
  if (credential !== '') headers.set('authorization', `Bearer ${credential}`)
  if (body !== undefined) headers.set('content-type', JSON_TYPE)
  try {
    // the call shows what the key may do, not what the session of this browser may do
    const reply = await fetch(url, {
      method,
      headers,
      credentials: 'omit',
      ...(body !== undefined && { body }),
    })
    return { status: `${reply.status} ${reply.statusText}`, body: pretty(await reply.text()) }
  } catch (error) {
    return { status: 'No reply', body: String(error) }
  }
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
