/** Files that an email is sent with. */
import { useEffect } from 'preact/hooks'
import type { Draft } from '../components/draft.tsx'
import { FilesField } from '../components/files-field.tsx'
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
  return (
    <FilesField
      files={files}
      hint={FILES_LIMIT}
      fault={filesFault(files) ?? fault}
      onAdd={added => draft.change({ files: [...files, ...chosenFiles(added)] })}
      onRemove={removed => draft.change({ files: files.filter(({ id }) => id !== removed) })}
    />
  )
}
