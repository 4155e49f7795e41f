/** Steps of a checklist, one of which is open at a time. */
import type { ComponentChildren } from 'preact'
import { Icon } from './icons.tsx'

interface StepProps {
  number: number
  title: string
  isDone: boolean
  isOpen: boolean
  /** What keeps the step from being done, beside its title. */
  state?: ComponentChildren
  children: ComponentChildren
}

/** Item of a list with the class `steps`. */
export function Step({ number, title, isDone, isOpen, state, children }: StepProps) {
  return (
    <li class={isDone ? 'is-done' : ''}>
      <details name="steps" open={isOpen}>
        <summary class="step-head">
          <span class="step-mark">{isDone ? <Icon name="check" size={16} /> : number}</span>
          <span class="row row-apart">
            <h2>
              {title}
              {isDone && <span class="unseen"> (done)</span>}
            </h2>
            {state}
          </span>
          <Icon name="next" size={16} />
        </summary>
        <div class="stack">{children}</div>
      </details>
    </li>
  )
}
