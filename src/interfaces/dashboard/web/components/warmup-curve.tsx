/** Chart of the daily limits of an address in warm-up, and of the current day. */
import { count } from '../labels/numbers.ts'

const [WIDTH, HEIGHT, TOP, BOTTOM] = [320, 110, 18, 20]

/**
 * @param caps messages to one provider on the first, second, … day
 * @param day day number, from 1
 */
export function WarmupCurve({ caps, day }: { caps: readonly number[]; day: number }) {
  // a logarithmic scale, because the limits grow by orders of magnitude
  const most = Math.log1p(Math.max(1, ...caps))
  const step = WIDTH / caps.length
  const heightOf = (cap: number) => ((HEIGHT - TOP - BOTTOM) * Math.log1p(cap)) / most
  const today = Math.min(day, caps.length) - 1
  return (
    <svg
      class="chart-small"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={`Day ${day} of ${caps.length}: ${count(caps[today]!)} messages per provider; ${count(caps.at(-1)!)} on the last day`}
    >
      {caps.map((cap, i) => (
        <rect
          key={`day ${i + 1}`}
          class={i < today ? 'is-past' : i === today ? 'is-today' : 'is-ahead'}
          x={step * i + 1}
          y={HEIGHT - BOTTOM - heightOf(cap)}
          width={Math.max(1, step - 2)}
          height={heightOf(cap)}
          rx="1.5"
        />
      ))}
      <text
        x={Math.min(WIDTH - 30, Math.max(30, step * (today + 0.5)))}
        y={HEIGHT - BOTTOM - heightOf(caps[today]!) - 5}
        text-anchor="middle"
        class="is-said"
      >
        {count(caps[today]!)}/day
      </text>
      <text x="0" y={HEIGHT - 5}>
        Day 1
      </text>
      <text x={WIDTH} y={HEIGHT - 5} text-anchor="end">
        Day {caps.length}
      </text>
    </svg>
  )
}
