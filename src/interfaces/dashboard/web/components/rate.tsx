/** Choice of the speed of a broadcast: at once, so many emails per hour, or over so many hours. */
import { useState } from 'preact/hooks'
import { wholeNumber } from '../labels/numbers.ts'
import { rateForHours, rateWords } from '../labels/rates.ts'
import { Choices, TextField } from './controls.tsx'

interface RateProps {
  /** Emails in an hour; null for no limit, and undefined while what is entered is no number. */
  rate: number | null | undefined
  onRate: (rate: number | null | undefined) => void
  /** Number of emails to send; undefined while it is not known. */
  emails: number | undefined
  fault: string | undefined
}

type Kind = 'fast' | 'rate' | 'hours'

export function Rate({ rate, onRate, emails, fault }: RateProps) {
  const [kind, setKind] = useState<Kind>(rate === null ? 'fast' : 'rate')
  const [text, setText] = useState(rate == null ? '' : String(rate))
  const change = (chosen: Kind, entered: string) => {
    setKind(chosen)
    setText(entered)
    const number = wholeNumber(entered) ?? 0
    if (chosen === 'fast') onRate(null)
    else if (number < 1) onRate(undefined)
    else onRate(chosen === 'rate' ? number : emails === undefined ? undefined : rateForHours(emails, number))
  }
  return (
    <section aria-label="Speed" class="stack stack-tight">
      <h3>Speed</h3>
      <Choices<Kind>
        label="Speed"
        value={kind}
        options={[
          ['fast', 'As fast as possible'],
          ['rate', 'Emails per hour'],
          ['hours', 'Spread over hours'],
        ]}
        onValue={chosen => change(chosen, '')}
      />
      {kind !== 'fast' && (
        <TextField
          label={kind === 'rate' ? 'Emails per hour' : 'Hours'}
          inputMode="numeric"
          required
          value={text}
          hint={rate ? rateWords(rate, emails) : 'A whole number, at least 1.'}
          onValue={entered => change(kind, entered)}
          fault={fault}
        />
      )}
    </section>
  )
}
