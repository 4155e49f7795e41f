/** Files that an email is sent with. */
import { useEffect } from 'preact/hooks'
import { Button, Field } from '../components/controls.tsx'
import type { Draft } from '../components/draft.tsx'
import { bytes, counted } from '../labels/numbers.ts'
import {
  type ComposeFields,
  chosenFiles,
  FILES_LIMIT,
  filesFault,
  keepContentsOf,
} from './compose-request.ts'

interface FilesProps {
  draft: Draft<ComposeFields>
  /** Message of the API. */
  fault: string | undefined
}

export function Files({ draft, fault }: FilesProps) {
  const { files } = draft.value
  useEffect(() => keepContentsOf(files), [files])
  const total = files.reduce((sum, file) => sum + file.bytes, 0)
  return (
    <div class="stack stack-tight">
      <Field label="Attachments" hint={FILES_LIMIT} fault={filesFault(files) ?? fault}>
        {ids => (
          <input
            class="input"
            type="file"
            multiple
            onChange={event => {
              const added = chosenFiles(event.currentTarget.files ?? [])
              // the same file may be chosen again, once it was removed
              event.currentTarget.value = ''
              draft.change({ files: [...files, ...added] })
            }}
            {...ids}
          />
        )}
      </Field>
      {files.length > 0 && (
        <>
          <ul class="stack stack-tight" aria-label="Attached files">
            {files.map(({ id, name, bytes: size }) => (
              <li class="row" key={id}>
                <bdi class="grow">{name}</bdi>
                <span class="quiet">{bytes(size)}</span>
                <Button
                  small
                  icon="cross"
                  label={`Remove ${name}`}
                  onClick={() => draft.change({ files: files.filter(file => file.id !== id) })}
                />
              </li>
            ))}
          </ul>
          <p class="quiet small" role="status">
            {counted(files.length, 'file')}, {bytes(total)}
          </p>
        </>
      )}
    </div>
  )
}
