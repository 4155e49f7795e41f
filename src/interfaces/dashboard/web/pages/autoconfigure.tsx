/** Adds the DNS records of a domain at the DNS provider, with an API token that is not stored. */
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { Domain } from '../api/types.ts'
import { Button, Switch, TextField } from '../components/controls.tsx'
import { Dialog, FormDialog } from '../components/dialog.tsx'
import { Mark } from '../components/show.tsx'
import type { Tone } from '../labels/status.ts'

interface Result {
  zone: string
  records: {
    record: string
    type: string
    host: string
    status: 'created' | 'already_exists' | 'conflict' | 'failed'
    message?: string
  }[]
}

const WORDS: Readonly<{ [S in Result['records'][number]['status']]: readonly [string, Tone] }> = {
  created: ['Added', 'good'],
  already_exists: ['Already exists', 'good'],
  conflict: ['Conflicting record', 'warn'],
  failed: ['Failed', 'bad'],
}

interface AutoconfigureProps {
  domain: Domain
  onClose: () => void
  onDone: () => void
}

export function AutoconfigureDialog({ domain, onClose, onDone }: AutoconfigureProps) {
  const [token, setToken] = useState('')
  const [mergeSpf, setMerge] = useState(true)
  const [result, setResult] = useState<Result>()
  if (result) return <Results result={result} onClose={onClose} />
  return (
    <FormDialog
      title="Configure DNS automatically"
      act="Add DNS records"
      onClose={onClose}
      onSubmit={async () => {
        setResult(
          await call<Result>('POST', `/domains/${domain.id}/autoconfigure`, {
            dns_api_token: token,
            merge_spf: mergeSpf,
          }),
        )
        onDone()
      }}
    >
      {error => (
        <>
          <p>
            If {domain.name} uses Cloudflare DNS, Mailhorn can add the records for you. Create an API token
            with the permissions Zone: Read and DNS: Edit. It is used once and not stored.
          </p>
          <TextField
            label="Cloudflare API token"
            type="password"
            autocomplete="off"
            required
            value={token}
            onValue={setToken}
            fault={error?.of('dns_api_token')}
          />
          <Switch
            label="Merge with an existing SPF record"
            hint="Otherwise an existing SPF record is left unchanged and reported as a conflict."
            checked={mergeSpf}
            onChange={setMerge}
          />
        </>
      )}
    </FormDialog>
  )
}

function Results({ result: { zone, records }, onClose }: { result: Result; onClose: () => void }) {
  return (
    <Dialog title={`DNS records in zone ${zone}`} onClose={onClose}>
      <ul class="dialog-body">
        {records.map(({ record, host, status, message }) => (
          <li key={`${record} ${host}`}>
            <div class="row row-apart">
              <b>{record}</b>
              <Mark tone={WORDS[status][1]}>{WORDS[status][0]}</Mark>
            </div>
            <div class="mono quiet">{host}</div>
            {message && <div class="small">{message}</div>}
          </li>
        ))}
      </ul>
      <div class="dialog-acts">
        <Button kind="main" onClick={onClose}>
          Close
        </Button>
      </div>
    </Dialog>
  )
}
