/** Shows the columns and first rows of a contact file, and asks what to import each column as. */
import { useEffect, useState } from 'preact/hooks'
import { ApiError, send } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import type { ImportPreview, List } from '../api/types.ts'
import { Failure } from '../components/feedback.tsx'
import { type ChosenUses, useOptions, usesOf, usesQuery, withUse } from '../labels/column-uses.ts'

/** The beginning of a file is enough for its first rows. */
const LOOK_BYTES = 256 * 1024
const EXAMPLES_SHOWN = 3

interface Chosen {
  audienceId: string
  file: File | undefined
  charset: string
  uses: ChosenUses
}

/** Looks at the beginning of the file, and applies what a person has chosen for its columns. */
export function useImportColumns({ audienceId, file, charset, uses: chosen }: Chosen) {
  const [look, setLook] = useState<ImportPreview>()
  const [error, setError] = useState<ApiError>()
  useEffect(() => {
    setLook(undefined)
    setError(undefined)
    if (!file) return
    const over = new AbortController()
    send('POST', `/audiences/${audienceId}/contacts/import/preview`, {
      body: file.slice(0, LOOK_BYTES),
      headers: { 'content-type': `text/csv; charset=${charset}` },
      signal: over.signal,
    })
      .then(async reply => setLook((await reply.json()) as ImportPreview))
      .catch((failure: unknown) => {
        if (over.signal.aborted) return
        if (!(failure instanceof ApiError)) throw failure
        setError(failure)
      })
    return () => over.abort()
  }, [audienceId, file, charset])
  const properties = useLoad<List<{ key: string }>>(`/audiences/${audienceId}/properties`)
  const keys = (properties.data?.data ?? []).map(({ key }) => key)
  const uses = look ? usesOf(look.columns, chosen, keys) : []
  return {
    ...{ look, error, keys, uses },
    /** Value of `column_uses`. */
    query: look && usesQuery(look.columns, uses),
    hasEmail: uses.some(({ use }) => use === 'email'),
    after: (name: string, use: string) => withUse(uses, chosen, name, use),
  }
}

interface ImportColumnsProps {
  columns: ReturnType<typeof useImportColumns>
  onUses: (uses: ChosenUses) => void
}

export function ImportColumns({ columns, onUses }: ImportColumnsProps) {
  const { look, error, keys, uses, hasEmail, after } = columns
  if (error) return <Failure error={error} act="The file could not be read" />
  if (!look) return null
  return (
    <fieldset class="stack stack-tight">
      <legend class="label">
        <b class="small">Columns, with the values of the first rows</b>
      </legend>
      {uses.map(({ name, use }) => {
        const at = look.columns.findIndex(column => column.name === name)
        const values = look.rows.map(({ cells }) => cells[at]).filter(Boolean)
        const label = `Import the column “${name}” as`
        return (
          <div class="halves" key={at}>
            <div class="small">
              <bdi>
                <b>{name}</b>
              </bdi>
              <div class="quiet line" dir="auto" title={values.join('\n')}>
                {values.slice(0, EXAMPLES_SHOWN).join(' · ') || 'Empty in the first rows'}
              </div>
            </div>
            <select
              class="input"
              aria-label={label}
              value={use}
              onChange={event => onUses(after(name, event.currentTarget.value))}
            >
              {useOptions(look.columns[at]!, keys).map(([value, words]) => (
                <option key={value} value={value}>
                  {words}
                </option>
              ))}
            </select>
          </div>
        )
      })}
      {!hasEmail && (
        <p class="advice" role="status">
          Choose the column with the email addresses.
        </p>
      )}
    </fieldset>
  )
}
