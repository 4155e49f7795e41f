/** Exports emails as CSV and shows the progress. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, send, withQuery } from '../api/client.ts'
import { Button } from '../components/controls.tsx'
import { Dialog } from '../components/dialog.tsx'
import { Failure } from '../components/feedback.tsx'
import { Meter } from '../components/show.tsx'
import { bytes, counted } from '../labels/numbers.ts'

interface ExportProps {
  filter: Readonly<Record<string, string>>
  total: number
  onClose: () => void
}

interface Progress {
  rows: number
  size: number
  isWhole: boolean
}

export function ExportDialog({ filter, total, onClose }: ExportProps) {
  const [progress, setProgress] = useState<Progress>()
  const [error, setError] = useState<ApiError>()
  const stop = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => stop.current?.abort(), [])
  const begin = async () => {
    setError(undefined)
    stop.current = new AbortController()
    try {
      const reply = await send('GET', withQuery('/emails/export', filter), { signal: stop.current.signal })
      save(await collect(reply, setProgress))
    } catch (failure) {
      if (stop.current.signal.aborted) return
      setProgress(undefined)
      setError(
        failure instanceof ApiError
          ? failure
          : new ApiError(0, 'unreachable', 'The connection was lost during the export. No file was saved.'),
      )
    }
  }
  return (
    <Dialog title="Export emails" onClose={onClose}>
      <div class="dialog-body">
        <p>{counted(total, 'email')} will be exported as a CSV file. The current filters apply.</p>
        {progress && (
          <>
            <Meter share={progress.isWhole ? 1 : progress.rows / Math.max(1, total)} label="Exported" />
            <p class="quiet number" role="status">
              {progress.isWhole ? 'Exported: ' : ''}
              {counted(progress.rows, 'email')}, {bytes(progress.size)}
            </p>
          </>
        )}
        {error && <Failure error={error} act="The export failed" />}
      </div>
      <div class="dialog-acts">
        <Button onClick={onClose}>{progress?.isWhole ? 'Close' : 'Cancel'}</Button>
        {!progress && (
          <Button kind="main" icon="save" onClick={() => void begin()}>
            Export CSV
          </Button>
        )}
      </div>
    </Dialog>
  )
}

/** Collects the reply and counts its rows. Line breaks inside quotes do not end a row. */
async function collect(reply: Response, show: (progress: Progress) => void): Promise<Blob> {
  const pieces: Uint8Array<ArrayBuffer>[] = []
  const reader = reply.body!.getReader()
  const [QUOTE, NEWLINE] = [0x22, 0x0a]
  let [size, lines, isQuoted] = [0, 0, false]
  for (;;) {
    const { value, done } = await reader.read()
    if (done) break
    pieces.push(value)
    size += value.length
    for (const byte of value)
      if (byte === QUOTE) isQuoted = !isQuoted
      else if (byte === NEWLINE && !isQuoted) lines++
    show({ rows: Math.max(0, lines - 1), size, isWhole: false })
  }
  show({ rows: Math.max(0, lines - 1), size, isWhole: true })
  return new Blob(pieces, { type: 'text/csv' })
}

function save(file: Blob) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = `emails-${new Date().toISOString().slice(0, 10)}.csv`
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}
