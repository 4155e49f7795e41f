/** One operation of the reference: what it takes, what it replies, and a form that tries it. */
import { useEffect, useState } from 'preact/hooks'
import { CodeSamples } from '../components/code.tsx'
import { type SampleCall, SampleFile } from '../labels/code-samples.ts'
import { select } from './current.ts'
import {
  type Content,
  listedIn,
  type OpenapiDocument,
  type Operation,
  type Parameter,
  replyOf,
  type Schema,
  typeText,
} from './document.ts'
import { exampleBody } from './example-body.ts'
import type { Replay } from './replay.ts'
import { Example, Text } from './text.tsx'
import { TryIt } from './try-it.tsx'

const JSON_TYPE = 'application/json'

interface OperationProps {
  operation: Operation
  document: OpenapiDocument
  credential: string
  /** Logged request that the form of this operation begins with. */
  replay: Replay | undefined
}

export function OperationView({ operation, document, credential, replay }: OperationProps) {
  const {
    operationId,
    method,
    path,
    summary,
    description,
    parameters = [],
    requestBody,
    responses,
  } = operation
  const [isOpen, setOpen] = useState(location.hash === `#${operationId}` || replay !== undefined)
  useEffect(() => {
    const openIfNamed = () => location.hash === `#${operationId}` && setOpen(true)
    addEventListener('hashchange', openIfNamed)
    return () => removeEventListener('hashchange', openIfNamed)
  }, [operationId])
  return (
    <details
      class="operation"
      id={operationId}
      open={isOpen}
      onToggle={event => {
        const { open } = event.currentTarget as HTMLDetailsElement
        setOpen(open)
        if (open) select(operationId)
      }}
    >
      <summary>
        <span class={`method method-${method.toLowerCase()}`}>{method}</span>
        <code>{path}</code>
        <span class="says">
          <Text>{summary}</Text>
        </span>
      </summary>
      {isOpen && (
        <div class="about">
          <p>
            <Text>{description}</Text>
          </p>
          <p class="faint">
            <code>{operationId}</code> · {credentialsOf(operation)}
          </p>
          <CodeSamples call={sampleCallOf(operation)} />
          {parameters.length > 0 && <Parameters parameters={parameters} />}
          {requestBody && (
            <Body title="Request body" content={withFreshExamples(requestBody.content)} document={document} />
          )}
          {Object.entries(responses).map(([status, reply]) => {
            const { description: what, content = {} } = replyOf(reply, document)
            return status.startsWith('2') ? (
              <Body key={status} title={`${status} ${what}`} content={content} document={document} />
            ) : (
              <p key={status} class="faint">
                <strong>{status === 'default' ? 'Other' : status}</strong> <Text>{what}</Text>
              </p>
            )
          })}
          <TryIt operation={operation} credential={credential} replay={replay} />
        </div>
      )}
    </details>
  )
}

const CREDENTIALS: Record<string, string> = {
  apiKey: 'API key',
  session: 'session',
  cookie: 'browser session',
  metricsToken: 'metrics token',
}

function credentialsOf({ security }: Operation): string {
  const names = security.flatMap(scheme => Object.keys(scheme)).map(name => CREDENTIALS[name] ?? name)
  return names.length === 0 ? 'no credential' : names.join(' or ')
}

function Parameters({ parameters }: { parameters: readonly Parameter[] }) {
  return (
    <>
      <h3>Parameters</h3>
      <table>
        <tbody>
          {parameters.map(({ name, in: place, required, description, schema }) => (
            <tr key={`${place} ${name}`}>
              <th scope="row">
                <code>{name}</code>
                {required && <span class="required">required</span>}
              </th>
              <td class="place">{place}</td>
              <td>
                <code>{typeText(schema)}</code> <Text>{description}</Text>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}

interface BodyProps {
  title: string
  content: Content
  document: OpenapiDocument
}

function Body({ title, content, document }: BodyProps) {
  return (
    <>
      {Object.entries(content).map(([type, { schema = {}, example }]) => (
        <section key={type}>
          <h3>
            {title} <span class="faint">{type}</span>
          </h3>
          <Properties schema={schema} document={document} />
          {example !== undefined && (
            <Example>{typeof example === 'string' ? example : JSON.stringify(example, null, 2)}</Example>
          )}
        </section>
      ))}
    </>
  )
}

function Properties({ schema, document }: { schema: Schema; document: OpenapiDocument }) {
  const { properties, required = [], anyOf, oneOf } = listedIn(schema, document)
  if (!properties)
    return (
      <p>
        <code>{typeText(schema)}</code> <Text>{schema.description}</Text>
      </p>
    )
  const sets = (anyOf ?? oneOf ?? []).flatMap(one => (one.required ? [one.required.join(' and ')] : []))
  return (
    <>
      {sets.length > 0 && <p>Also required: {sets.join(', or ')}.</p>}
      <table>
        <tbody>
          {Object.entries(properties).map(([name, property]) => (
            <tr key={name}>
              <th scope="row">
                <code>{name}</code>
                {required.includes(name) && <span class="required">required</span>}
              </th>
              <td colSpan={2}>
                <code>{typeText(property)}</code> <Text>{property.description}</Text>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}

function withFreshExamples(content: Content): Content {
  return Object.fromEntries(
    Object.entries(content).map(([type, media]) => [type, { ...media, example: exampleBody(media.example) }]),
  )
}

/** Returns the call of an operation with the example of the document as its body. */
export function sampleCallOf(operation: Operation, baseUrl = location.origin): SampleCall {
  const { method, path, parameters = [], security, requestBody, responses } = operation
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => name.toUpperCase())
  const query = parameters.filter(one => one.in === 'query' && one.required).map(({ name }) => name)
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1]
  const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? []
  return {
    ...{ method, baseUrl },
    path: query.length === 0 ? filled : `${filled}?${query.map(name => `${name}=`).join('&')}`,
    body:
      type === undefined || type === JSON_TYPE
        ? exampleBody(media?.example)
        : new SampleFile('contacts.csv', type),
    token: security.length > 0 ? undefined : null,
    isTextReply: success?.content !== undefined && !(JSON_TYPE in success.content),
  }
}
