/** Use of a template: a test email with the test values, and the request that sends it. */
import { useState } from 'preact/hooks'
import type { Variable } from '../../../../resources/templates/compile.ts'
import type { DeclaredVariable, VariableType } from '../../../../resources/templates/declared.ts'
import type { Rendering } from '../../../../resources/templates/render.ts'
import { call } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { signedIn } from '../api/session.ts'
import type { Domain, Installation, List, Template } from '../api/types.ts'
import { CodeSamples } from '../components/code.tsx'
import { Copy, TextField } from '../components/controls.tsx'
import { FormDialog } from '../components/dialog.tsx'
import { say } from '../components/feedback.tsx'
import { Card } from '../components/show.tsx'
import { sampleSender } from '../labels/sample-sender.ts'
import { nested, valueOfType } from './template-variables.tsx'

interface TestProps {
  rendered: Extract<Rendering, { ok: true }>
  from: string
  replyTo: readonly string[]
  onClose: () => void
}

/** Sends the rendered preview, so that drafts can be tested before they are saved. */
export function TestTemplate({ rendered, from, replyTo, onClose }: TestProps) {
  const domains = useLoad<List<Domain>>('/domains?limit=100')
  const [to, setTo] = useState(signedIn().user.email)
  const [given, setFrom] = useState<string>()
  const sender = given ?? (from || sampleSender(domains.data?.data ?? []))
  const send = async () => {
    const { subject, html, text } = rendered
    await call('POST', '/emails', {
      from: sender,
      to: to.split(',').map(address => address.trim()),
      ...{ subject, html, text, reply_to: replyTo },
      tags: [{ name: 'template_test', value: 'true' }],
    })
    say('The test email was sent.')
    onClose()
  }
  return (
    <FormDialog title="Send test email" act="Send test email" onClose={onClose} onSubmit={send}>
      {error => (
        <>
          <TextField
            label="To"
            required
            value={to}
            onValue={setTo}
            hint="The email is sent as the preview shows it, also if the template is not saved. Separate several addresses with commas."
            fault={error?.of('to')}
          />
          <TextField label="From" required value={sender} onValue={setFrom} fault={error?.of('from')} />
        </>
      )}
    </FormDialog>
  )
}

interface UseProps {
  template: Template
  variables: readonly Variable[]
  declared: readonly DeclaredVariable[]
  /** Test values by variable. */
  values: Readonly<Record<string, string>>
}

export function UseTemplate({ template, variables, declared, values }: UseProps) {
  const { data } = useLoad<Installation>('/installation')
  const domains = useLoad<List<Domain>>('/domains?limit=100')
  if (!data || !domains.data) return null
  const body = {
    ...(template.from === null && { from: sampleSender(domains.data.data) }),
    to: `delivered@${data.simulator_domain}`,
    template: {
      id: template.alias ?? template.id,
      ...(variables.length > 0 && { variables: valuesOf(variables, declared, values) }),
    },
  }
  return (
    <Card title="Send with the API" lead="The request with your test values.">
      <div class="stack">
        <CodeSamples
          call={{ method: 'POST', baseUrl: data.base_url.replace(/\/$/, ''), path: '/emails', body }}
        />
        <details>
          <summary>Request body (JSON)</summary>
          <Copy block label="Copy JSON" text={JSON.stringify(body, null, 2)} />
        </details>
      </div>
    </Card>
  )
}

const PLACEHOLDERS: Readonly<Record<Exclude<VariableType, 'string'>, unknown>> = {
  ...{ number: 1, boolean: true, object: {}, list: [] },
}

/** Returns the test values, and a placeholder for each variable that requires a value and has none. */
function valuesOf(
  variables: readonly Variable[],
  declared: readonly DeclaredVariable[],
  values: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const byKey = new Map(declared.map(variable => [variable.key, variable]))
  return nested(
    variables.flatMap(({ name, fallback }): [string, unknown][] => {
      const { type = 'string', fallback: spare = null } = byKey.get(name) ?? {}
      const value = values[name]
      if (value) return [[name, valueOfType(type, value)]]
      if (fallback !== null || spare !== null) return []
      return [[name, type === 'string' ? name : PLACEHOLDERS[type]]]
    }),
  )
}
