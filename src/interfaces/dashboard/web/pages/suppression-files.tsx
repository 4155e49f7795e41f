/** Dialogs that import suppressions from a file and export them to one. */
import { useState } from 'preact/hooks'
import { send, withQuery } from '../api/client.ts'
import type { SuppressionImport } from '../api/types.ts'
import { Button, Choose, Field } from '../components/controls.tsx'
import { Dialog, useAct } from '../components/dialog.tsx'
import { Failure, Note } from '../components/feedback.tsx'
import { count, counted } from '../labels/numbers.ts'
import { RowGroups } from './import-contacts.tsx'

export function ImportSuppressions({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const [file, setFile] = useState<File>()
  const [report, setReport] = useState<SuppressionImport>()
  const { error, isBusy, run } = useAct(async () => {
    const type = file!.name.toLowerCase().endsWith('.json') ? 'application/json' : 'text/csv'
    const headers = { 'content-type': type }
    const reply = await send('POST', '/suppressions/import', { body: file!, headers })
    setReport((await reply.json()) as SuppressionImport)
    onDone()
  })
  return (
    <Dialog title="Import suppressions" onClose={onClose}>
      <div class="dialog-body">
        {report ? (
          <Report report={report} />
        ) : (
          <Field
            label="CSV or JSON file"
            hint="Columns: email, reason (bounce, complaint or manual), created_at. A list of addresses is enough."
          >
            {ids => (
              <input
                class="input"
                type="file"
                accept=".csv,.json,.txt,text/csv,application/json"
                disabled={isBusy}
                onChange={event => setFile(event.currentTarget.files?.[0])}
                {...ids}
              />
            )}
          </Field>
        )}
        {error && <Failure error={error} act="The import failed" />}
      </div>
      <div class="dialog-acts">
        <Button onClick={onClose}>{report ? 'Close' : 'Cancel'}</Button>
        {!report && (
          <Button kind="main" disabled={!file || isBusy} onClick={() => void run()}>
            {isBusy ? 'Importing …' : 'Import suppressions'}
          </Button>
        )}
      </div>
    </Dialog>
  )
}

function Report({ report: { rows, added, existing, failed, errors } }: { report: SuppressionImport }) {
  return (
    <>
      <Note tone={failed > 0 ? 'warn' : 'good'}>
        <p>
          <b>{counted(rows, 'row')} read.</b> {count(added)} added, {count(existing)} suppressed already
          {failed > 0 && `, ${count(failed)} rejected`}.
        </p>
      </Note>
      {errors.length > 0 && <RowGroups rows={errors} />}
    </>
  )
}

const FORMATS = [
  ['csv', 'CSV'],
  ['json', 'JSON'],
] as const

interface ExportProps {
  /** Reason that the list is filtered by. */
  reason: string | undefined
  onClose: () => void
}

export function ExportSuppressions({ reason, onClose }: ExportProps) {
  const [format, setFormat] = useState<string>('csv')
  const path = format === 'json' ? '/suppressions/export.json' : '/suppressions/export'
  return (
    <Dialog title="Export suppressions" onClose={onClose}>
      <div class="dialog-body">
        <p>
          {reason === undefined
            ? 'All suppressed addresses will be exported, with reason and time.'
            : `All addresses with the reason “${reason}” will be exported, with their time.`}
        </p>
        <Choose label="Format" value={format} onValue={setFormat} options={FORMATS} />
      </div>
      <div class="dialog-acts">
        <Button onClick={onClose}>Close</Button>
        <a class="button button-main" href={withQuery(path, { reason })} download={`suppressions.${format}`}>
          Export
        </a>
      </div>
    </Dialog>
  )
}
