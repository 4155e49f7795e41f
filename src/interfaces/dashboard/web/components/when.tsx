/** Choice between now and a time in the time zone of the browser. */
import { fullTime, timeZone } from '../labels/time.ts'
import { Choices, TextField } from './controls.tsx'

interface WhenProps {
  /** Local time; undefined is now. */
  when: string | undefined
  onWhen: (when: string | undefined) => void
  fault: string | undefined
}

export function When({ when, onWhen, fault }: WhenProps) {
  const at = when ? new Date(when) : undefined
  return (
    <section aria-label="When" class="stack stack-tight">
      <h3>When</h3>
      <Choices<'now' | 'later'>
        label="When"
        value={when === undefined ? 'now' : 'later'}
        options={[
          ['now', 'Now'],
          ['later', 'At a time'],
        ]}
        onValue={value => onWhen(value === 'now' ? undefined : '')}
      />
      {when !== undefined && (
        <TextField
          label={`Send at (${timeZone})`}
          type="datetime-local"
          required
          value={when}
          hint={at && fullTime(at.toISOString())}
          onValue={onWhen}
          fault={fault}
        />
      )}
    </section>
  )
}
