/** Field of a form that chooses files, and the list of those that were chosen. */
import { bytes, counted } from '../labels/numbers.ts'
import { Button, Field } from './controls.tsx'

interface FilesFieldProps {
  files: readonly { id: string; name: string; bytes: number }[]
  /** Limits, which are said before a file is chosen. */
  hint: string
  fault: string | undefined
  onAdd: (files: File[]) => void
  onRemove: (id: string) => void
}

export function FilesField({ files, hint, fault, onAdd, onRemove }: FilesFieldProps) {
  const total = files.reduce((sum, file) => sum + file.bytes, 0)
  return (
    <div class="stack stack-tight">
      <Field label="Attachments" hint={hint} fault={fault}>
        {ids => (
          <input
            class="input"
            type="file"
            multiple
            onChange={event => {
              const added = [...(event.currentTarget.files ?? [])]
              // the same file may be chosen again, once it was removed
              event.currentTarget.value = ''
              onAdd(added)
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
                <Button small icon="cross" label={`Remove ${name}`} onClick={() => onRemove(id)} />
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
