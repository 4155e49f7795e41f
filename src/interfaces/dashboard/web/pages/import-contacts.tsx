/** Imports contacts from a CSV file, with the progress and the failed rows. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, send, withQuery } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import type { Audience, ContactImport, List } from '../api/types.ts'
import { Button, Choose, Field } from '../components/controls.tsx'
import { Dialog } from '../components/dialog.tsx'
import { useDraft } from '../components/draft.tsx'
import { Failure, Note, say } from '../components/feedback.tsx'
import type { ChosenUses } from '../labels/column-uses.ts'
import { groupsOf, rejectedCsv, splitNotes } from '../labels/import-report.ts'
import { count, counted } from '../labels/numbers.ts'
import { ImportColumns, useImportColumns } from './import-columns.tsx'
import { ImportQuestions, useColumnQuestions } from './import-questions.tsx'

const LIVE_MS = 1_000
/**
 * Selected files that are not imported yet, by audience. The file input loses its file when the dialog
 * closes.
 */
const chosenFiles = new Map<string, File>()

/** Charsets that spreadsheets and mail programs save files in, by their labels. */
const CHARSETS = [
  ['utf-8', 'UTF-8'],
  ['windows-1252', 'Western European (Windows-1252)'],
  ['iso-8859-2', 'Central European (ISO-8859-2)'],
  ['windows-1251', 'Cyrillic (Windows-1251)'],
  ['windows-1255', 'Hebrew (Windows-1255)'],
  ['shift_jis', 'Japanese (Shift_JIS)'],
  ['gb18030', 'Simplified Chinese (GB18030)'],
  ['big5', 'Traditional Chinese (Big5)'],
  ['euc-kr', 'Korean (EUC-KR)'],
  ['utf-16', 'UTF-16'],
] as const

/** Words of the errors about text that the charset does not have. */
const CHARSET_FAULT = 'charset of the file'

interface ImportProps {
  audience: Audience
  onClose: () => void
  onDone: () => void
}

/** Holds the file, the answers about it and the state of its import. */
function useImport({ audience, onDone }: Pick<ImportProps, 'audience' | 'onDone'>) {
  const [file, setFile] = useState(() => chosenFiles.get(audience.id))
  const draft = useDraft(`import.${audience.id}`, {
    onExisting: 'update',
    charset: 'utf-8',
    uses: {} as ChosenUses,
  })
  const { onExisting, charset = 'utf-8', uses = {} } = draft.value
  const isOpen = useIsOpen()
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<ApiError>()
  const [report, setReport] = useState<ContactImport>()
  const asked = useColumnQuestions()
  const columns = useImportColumns({ audienceId: audience.id, file, charset, uses })
  const choose = (chosen: File | undefined) => {
    setFile(chosen)
    asked.reset()
    draft.change({ uses: {} })
    if (chosen) chosenFiles.set(audience.id, chosen)
    else chosenFiles.delete(audience.id)
  }
  const begin = async () => {
    setBusy(true)
    setError(undefined)
    try {
      const path = withQuery(`/audiences/${audience.id}/contacts/import`, {
        on_existing: onExisting,
        file_name: file!.name,
        column_meanings: asked.query,
        column_uses: columns.query,
      })
      const reply = await send('POST', path, {
        body: file!,
        headers: { 'content-type': `text/csv; charset=${charset}` },
      })
      const done = (await reply.json()) as ContactImport
      chosenFiles.delete(audience.id)
      draft.discard()
      setReport(done)
      if (!isOpen()) say(`Import finished: ${counted(done.rows, 'row')} read, ${count(done.failed)} failed.`)
      onDone()
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure
      asked.ask(failure.questions)
      if (failure.questions.length === 0) setError(failure)
    } finally {
      setBusy(false)
    }
  }
  return { file, choose, draft, columns, asked, begin, isBusy, error, report }
}

export function ImportDialog({ audience, onClose, onDone }: ImportProps) {
  const { file, choose, draft, columns, asked, begin, isBusy, error, report } = useImport({
    audience,
    onDone,
  })
  return (
    <Dialog title="Import contacts" wide onClose={onClose}>
      <div class="dialog-body">
        {report ? (
          <Report report={report} />
        ) : (
          <>
            <Field
              label="CSV file"
              hint="The first row names the columns. Nothing is stored before you have seen them."
            >
              {ids => (
                <input
                  class="input"
                  type="file"
                  accept=".csv,text/csv"
                  disabled={isBusy}
                  onChange={event => choose(event.currentTarget.files?.[0])}
                  {...ids}
                />
              )}
            </Field>
            {file && <p class="quiet">Selected: {file.name}</p>}
            <Choose
              label="Existing contacts"
              {...draft.field('onExisting')}
              options={[
                ['update', 'Update with the values of the file'],
                ['skip', 'Skip'],
              ]}
            />
            <Choose
              label="Encoding"
              {...draft.field('charset')}
              hint="Spreadsheet programs often save CSV files in the encoding of the system, not in UTF-8."
              options={CHARSETS}
            />
            <ImportColumns columns={columns} onUses={uses => draft.change({ uses })} />
            <ImportQuestions asked={asked} />
            {isBusy && <SoFar audienceId={audience.id} />}
          </>
        )}
        {error && <Failure error={error} act="The import failed" />}
        {error?.message.includes(CHARSET_FAULT) && <CharsetAdvice />}
      </div>
      <div class="dialog-acts">
        <Button onClick={onClose}>{report ? 'Close' : 'Cancel'}</Button>
        {!report && (
          <Button
            kind="main"
            disabled={!columns.hasEmail || isBusy || !asked.isAnswered}
            onClick={() => void begin()}
          >
            {isBusy ? 'Importing …' : 'Import contacts'}
          </Button>
        )}
      </div>
    </Dialog>
  )
}

function CharsetAdvice() {
  return (
    <Note tone="warn">
      <p>This file does not have the chosen encoding. Choose another encoding and import again.</p>
    </Note>
  )
}

function useIsOpen(): () => boolean {
  const isOpen = useRef(true)
  useEffect(
    () => () => {
      isOpen.current = false
    },
    [],
  )
  return () => isOpen.current
}

function SoFar({ audienceId }: { audienceId: string }) {
  const { data } = useLoad<List<ContactImport>>(`/audiences/${audienceId}/imports?limit=1`, {
    everyMs: LIVE_MS,
  })
  const [running] = data?.data ?? []
  if (running?.status !== 'running') return null
  return (
    <p class="quiet number" role="status">
      {counted(running.rows, 'row')} processed so far.
    </p>
  )
}

function Report({ report }: { report: ContactImport }) {
  const { rows, created, updated, unchanged, skipped, failed, errors, notes } = report
  const { left, others } = splitNotes(notes)
  return (
    <>
      <Note tone={failed > 0 ? 'warn' : 'good'}>
        <p>
          <b>{counted(rows, 'row')} read.</b> {count(created)} created, {count(updated)} updated,{' '}
          {count(unchanged + skipped)} unchanged{failed > 0 && `, ${count(failed)} rejected`}.
        </p>
        {left && <p>{left}</p>}
      </Note>
      {errors.some(({ message }) => message.includes(CHARSET_FAULT)) && <CharsetAdvice />}
      {errors.length > 0 && (
        <section class="stack stack-tight">
          <div class="row row-apart">
            <h3>{count(failed)} rejected</h3>
            <Button small icon="save" onClick={() => download(rejectedCsv(errors))}>
              {errors.length < failed ? `Download the first ${count(errors.length)}` : 'Download'}
            </Button>
          </div>
          <RowGroups rows={errors} />
        </section>
      )}
      {others.length > 0 && (
        <section class="stack stack-tight">
          <h3>Changed while importing</h3>
          <RowGroups rows={others} />
        </section>
      )}
    </>
  )
}

/** Rows by message; the rows of a message are listed when it is opened. */
export function RowGroups({ rows }: { rows: ContactImport['errors'] }) {
  return (
    <ul class="stack stack-tight small">
      {groupsOf(rows).map(({ text, rows: ofGroup }) => (
        <li key={text}>
          {ofGroup.length === 1 ? (
            <>
              <RowName row={ofGroup[0]!} /> <span class="quiet">{text}</span>
            </>
          ) : (
            <details>
              <summary>{text}</summary>
              {ofGroup.map(row => (
                <RowName key={row.row} row={row} />
              ))}
            </details>
          )}
        </li>
      ))}
    </ul>
  )
}

function RowName({ row: { row, email } }: { row: ContactImport['errors'][number] }) {
  return (
    <>
      <b>Row {row}</b> {email && <span class="mono">{email}</span>}{' '}
    </>
  )
}

function download(csv: string): void {
  const url = URL.createObjectURL(new Blob([csv], { type: 'text/csv' }))
  const link = Object.assign(document.createElement('a'), { href: url, download: 'rejected-contacts.csv' })
  link.click()
  URL.revokeObjectURL(url)
}
