/**
 * Entry of the API reference at `/docs`. It shows the operations of `/openapi.json`, and tries them with the
 * credential that the visitor enters, which is kept in this page only.
 */
import { render } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { followTheme } from '../theme/theme.ts'
import { current } from './current.ts'
import { loadDocument, type OpenapiDocument, type Operation, operationsOf } from './document.ts'
import { OperationView } from './operation.tsx'
import { loadReplay, type Replay, replayedId } from './replay.ts'
import { Text } from './text.tsx'
import './reference.css'

function Reference() {
  const [document, setDocument] = useState<OpenapiDocument>()
  const [replay, setReplay] = useState<Replay | Error>()
  const [fault, setFault] = useState('')
  useEffect(() => {
    const load = async () => {
      const found = await loadDocument()
      const id = replayedId(location.search)
      if (id !== undefined)
        setReplay(await loadReplay(id, operationsOf(found)).catch((error: Error) => error))
      setDocument(found)
    }
    load().catch((error: Error) => setFault(error.message))
  }, [])
  if (fault !== '') return <main class="reference">The reference could not be loaded: {fault}</main>
  if (!document) return <main class="reference">Loading …</main>
  if (!(replay instanceof Error)) return <Loaded document={document} replay={replay} />
  return <Loaded document={document} notice={replay.message} />
}

interface LoadedProps {
  document: OpenapiDocument
  /** Logged request that the form of its operation begins with. */
  replay?: Replay | undefined
  /** Says why the logged request could not be filled in. */
  notice?: string
}

function Loaded({ document, replay, notice }: LoadedProps) {
  const [search, setSearch] = useState('')
  const [credential, setCredential] = useState('')
  const operations = useMemo(() => operationsOf(document), [document])
  useEffect(() => {
    window.document.getElementById(replay?.operationId ?? location.hash.slice(1))?.scrollIntoView()
  }, [])
  const shown = operations.filter(operation => isFound(operation, search.trim().toLowerCase()))
  const groups = document.tags
    .map(tag => ({ ...tag, operations: shown.filter(({ tags }) => tags.includes(tag.name)) }))
    .filter(group => group.operations.length > 0)
  return (
    <div class="reference">
      <header>
        <h1>{document.info.title} API</h1>
        {notice && (
          <p role="alert">
            <Text>{notice}</Text>
          </p>
        )}
        <p>
          Machine-readable: <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1),{' '}
          <a href="/llms.txt">llms.txt</a>. <a href="/dashboard/">Dashboard</a>
        </p>
        <Credentials />
        <details>
          <summary>Conventions</summary>
          <p>
            <Text>{document.info.description}</Text>
          </p>
        </details>
        <div class="tools">
          <label>
            <span>API key or token for trying calls</span>
            <input
              type="password"
              autocomplete="off"
              placeholder="re_…"
              value={credential}
              onInput={event => setCredential(event.currentTarget.value.trim())}
            />
          </label>
        </div>
      </header>
      <nav aria-label="Operations">
        <label>
          <span>Search</span>
          <input type="search" value={search} onInput={event => setSearch(event.currentTarget.value)} />
        </label>
        <p role="status" class="faint">
          {search.trim() !== '' && foundText(shown.length, search.trim())}
        </p>
        {groups.map(({ name, operations }) => (
          <details
            key={name}
            open={search.trim() !== '' || operations.some(one => one.operationId === current.value)}
          >
            <summary>{name}</summary>
            {operations.map(({ operationId, method, path }) => (
              <a
                key={operationId}
                href={`#${operationId}`}
                {...(operationId === current.value && { 'aria-current': 'true' as const })}
              >
                <span class={`method method-${method.toLowerCase()}`}>{method}</span> {path}
              </a>
            ))}
          </details>
        ))}
      </nav>
      <main>
        {groups.map(({ name, description, operations }) => (
          <section key={name} id={`group-${anchorOf(name)}`}>
            <h2>{name}</h2>
            <p>{description}</p>
            {operations.map(operation => (
              <OperationView
                key={operation.operationId}
                {...{ operation, document, credential }}
                replay={replay?.operationId === operation.operationId ? replay : undefined}
              />
            ))}
          </section>
        ))}
      </main>
    </div>
  )
}

function Credentials() {
  return (
    <section class="credentials" aria-labelledby="credentials">
      <h2 id="credentials">Get a credential</h2>
      <p>
        Send it as <code>Authorization: Bearer …</code>. Its secret is shown only once.
      </p>
      <dl>
        <dt>API key</dt>
        <dd>
          Sends and reads email, received mail and suppressions. The first start of the service prints one.
          Create others on the page <a href="/dashboard/keys">API keys</a>, with{' '}
          <code>mailhorn key create &lt;name&gt;</code> or with{' '}
          <a href="#createApiKey">
            <code>POST /api-keys</code>
          </a>
          .
        </dd>
        <dt>Access token</dt>
        <dd>
          Manages domains, contacts, broadcasts, webhooks and everything else that its scopes cover. Create it
          on the page <a href="/dashboard/keys">API keys</a>, with{' '}
          <code>mailhorn token create &lt;name&gt; --scopes full</code> or, with a session, with{' '}
          <a href="#createAccessToken">
            <code>POST /access-tokens</code>
          </a>
          .
        </dd>
        <dt>Session</dt>
        <dd>
          <a href="#signIn">
            <code>POST /auth/login</code>
          </a>{' '}
          returns one to scripts as <code>token</code>.
        </dd>
      </dl>
    </section>
  )
}

function foundText(found: number, search: string): string {
  const operations = found === 1 ? '1 operation matches' : `${found === 0 ? 'No' : found} operations match`
  return `${operations} “${search}”.`
}

function anchorOf(name: string): string {
  return name.toLowerCase().replaceAll(' ', '-')
}

function isFound({ operationId, method, path, summary }: Operation, wanted: string): boolean {
  return `${operationId} ${method} ${path} ${summary}`.toLowerCase().includes(wanted)
}

followTheme()
render(<Reference />, document.getElementById('app')!)
