/** Has the records of a domain put into its zone at the DNS provider, with a token that is kept nowhere. */
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
  already_exists: ['Was there', 'good'],
  conflict: ['Something else is there', 'warn'],
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
      title="Set up by itself"
      act="Add the records"
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
            If Cloudflare keeps the DNS of {domain.name}, the records can be added for you. Make a token there
            that may read the zone and edit its DNS. It is used this once and kept nowhere.
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
            label="Join with an SPF record that is there"
            hint="Otherwise such a record is left alone and reported."
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
    <Dialog title={`Done in the zone ${zone}`} onClose={onClose}>
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
