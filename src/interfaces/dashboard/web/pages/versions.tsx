/** Previous versions of a template: compare and restore. */
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import type { Template, Version, VersionRow } from '../api/types.ts'
import { Button } from '../components/controls.tsx'
import { Dialog, useAct } from '../components/dialog.tsx'
import { Failure, Pending, say, Waiting } from '../components/feedback.tsx'
import { Time } from '../components/show.tsx'
import { diffLines } from '../labels/diff.ts'
import { exactTime } from '../labels/time.ts'

interface VersionsProps {
  template: Template
  onClose: () => void
  onRestored: (template: Template) => void
}

export function VersionsDialog({ template, onClose, onRestored }: VersionsProps) {
  const versions = useLoad<VersionRow[]>(`/templates/${template.id}/versions`)
  const [chosen, setChosen] = useState<number>()
  const number = chosen ?? versions.data?.[0]?.version
  return (
    <Dialog title="Versions" wide onClose={onClose}>
      <div class="dialog-body">
        {!versions.data && <Pending of={versions} />}
        {versions.data?.length === 0 && (
          <p>No previous versions. A version is kept each time you save a change.</p>
        )}
        {versions.data && versions.data.length > 0 && (
          <label class="field">
            <span class="label">Compare the current template with</span>
            <select
              class="input"
              value={number}
              onChange={event => setChosen(Number(event.currentTarget.value))}
            >
              {versions.data.map(({ version, created_at }) => (
                <option key={version} value={version}>
                  Version {version}, until {exactTime(created_at)}
                </option>
              ))}
            </select>
          </label>
        )}
        {number !== undefined && (
          <Comparison
            key={number}
            template={template}
            number={number}
            onRestored={restored => {
              onRestored(restored)
              onClose()
            }}
          />
        )}
      </div>
    </Dialog>
  )
}

interface ComparisonProps {
  template: Template
  number: number
  onRestored: (template: Template) => void
}

function Comparison({ template, number, onRestored }: ComparisonProps) {
  const path = `/templates/${template.id}/versions/${number}`
  const version = useLoad<Version>(path)
  const restore = useAct(async () => {
    onRestored(await call<Template>('POST', `${path}/restore`))
    say(`Version ${number} was restored and is used from now on. The previous content was kept as a version.`)
  })
  if (!version.data) return version.error ? <Failure error={version.error} /> : <Waiting />
  return (
    <>
      <div class="row row-apart">
        <span class="quiet">
          Replaced <Time at={version.data.created_at} />. Removed lines are red, added lines are green.
        </span>
        <Button disabled={restore.isBusy} onClick={() => void restore.run()}>
          Restore version
        </Button>
      </div>
      {restore.error && <Failure error={restore.error} />}
      {PARTS.map(([part, label]) => (
        <Difference
          key={part}
          label={label}
          older={linesOf(version.data!, part)}
          newer={linesOf(template, part)}
        />
      ))}
    </>
  )
}

const PARTS = [
  ['name', 'Name'],
  ['subject', 'Subject'],
  ['from', 'From'],
  ['reply_to', 'Reply-To'],
  ['html', 'HTML'],
  ['text', 'Text'],
  ['variables', 'Variables'],
] as const

/** Returns a part of the content as text, with one line for each entry of a list. */
function linesOf(content: Template | Version, part: (typeof PARTS)[number][0]): string {
  if (part === 'reply_to') return (content.reply_to ?? []).join('\n')
  if (part !== 'variables') return content[part] ?? ''
  return content.variables
    .map(({ key, type, fallback_value: fallback }) =>
      fallback === null ? `${key}: ${type}` : `${key}: ${type}, fallback ${JSON.stringify(fallback)}`,
    )
    .join('\n')
}

function Difference({ label, older, newer }: { label: string; older: string; newer: string }) {
  if (older === newer) return null
  return (
    <section>
      <h3>{label}</h3>
      <div class="diff">
        {diffLines(older, newer).map(({ kind, text }, i) => (
          <div key={i} class={kind === 'same' ? '' : `is-${kind}`}>
            <span class="unseen">{kind === 'same' ? '' : `${kind}: `}</span>
            {kind === 'new' ? '+ ' : kind === 'old' ? '− ' : '  '}
            {text}
          </div>
        ))}
      </div>
    </section>
  )
}
