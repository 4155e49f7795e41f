/** Filter by a range of days: presets, and a first and a last day. The range is kept in the URL. */
import { useRef, useState } from 'preact/hooks'
import type { Query } from '../api/query.ts'
import { type Days, daysOf, PRESETS, type Range, rangeOfDays, rangeWords } from '../labels/ranges.ts'
import { Button, TextField } from './controls.tsx'
import { Icon } from './icons.tsx'

export function rangeIn(query: Query): Range {
  return { created_after: query.get('created_after'), created_before: query.get('created_before') }
}

const GAP_PX = 4
const MARGIN_PX = 8

export function DateRange({ query }: { query: Query }) {
  const range = rangeIn(query)
  const [days, setDays] = useState<Days>({ from: '', to: '' })
  const [isOpen, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const panel = useRef<HTMLFormElement>(null)
  const choose = (chosen: Range) => {
    panel.current!.hidePopover()
    button.current!.focus()
    query.set({ ...chosen })
  }
  const open = () => {
    const box = panel.current!
    if (isOpen) return box.hidePopover()
    setDays(daysOf(range))
    box.showPopover()
    const { left, bottom } = button.current!.getBoundingClientRect()
    box.style.top = `${bottom + GAP_PX}px`
    box.style.left = `${Math.max(MARGIN_PX, Math.min(left, innerWidth - box.offsetWidth - MARGIN_PX))}px`
    box.querySelector('button')?.focus()
  }
  return (
    <>
      <button
        ref={button}
        type="button"
        class="input range"
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={open}
      >
        {rangeWords(range, new Date()) || 'Any date'} <Icon name="down" size={14} />
      </button>
      <form
        ref={panel}
        popover="auto"
        class="range-panel"
        role="dialog"
        aria-label="Date"
        onToggle={event => setOpen(event.newState === 'open')}
        onSubmit={event => {
          event.preventDefault()
          choose(rangeOfDays(days))
        }}
      >
        <div class="range-presets">
          {PRESETS.map(([label, rangeAt]) => (
            <Button key={label} small kind="plain" onClick={() => choose(rangeAt(new Date()))}>
              {label}
            </Button>
          ))}
        </div>
        <TextField
          label="First day"
          type="date"
          {...(days.to && { max: days.to })}
          value={days.from}
          onValue={from => setDays({ ...days, from })}
        />
        <TextField
          label="Last day"
          type="date"
          {...(days.from && { min: days.from })}
          value={days.to}
          onValue={to => setDays({ ...days, to })}
        />
        <div class="row">
          <Button small type="submit" kind="main">
            Apply
          </Button>
          <Button small onClick={() => choose({ created_after: '', created_before: '' })}>
            Any date
          </Button>
        </div>
      </form>
    </>
  )
}
