/** Stacked column chart over time, drawn as SVG without a library. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { count } from '../labels/numbers.ts'
import type { Column } from '../labels/periods.ts'

interface Series {
  name: string
  label: string
}

const FIRST_WIDTH_PX = 760
const HEIGHT = 160
const [LEFT, BOTTOM, TOP] = [42, 24, 8]
const LINES = 3
const TIP_PX = 200

export function StackedColumns({
  label,
  series,
  columns,
  onChoose,
}: {
  label: string
  series: readonly Series[]
  columns: readonly Column[]
  /** A click on a column. */
  onChoose: (column: Column) => void
}) {
  const [looked, setLooked] = useState<number>()
  const [frame, width] = useWidth()
  const svg = useRef<SVGSVGElement>(null)
  const totals = columns.map(({ values }) => series.reduce((sum, { name }) => sum + (values[name] ?? 0), 0))
  const most = niceMost(Math.max(1, ...totals))
  const step = (width - LEFT) / columns.length
  const yOf = (value: number) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / most)
  const everyLabel = Math.ceil(columns.length / Math.max(3, width / 96))
  useEffect(() => {
    const over = new AbortController()
    const indexAt = ({ offsetX }: MouseEvent) =>
      offsetX < LEFT ? undefined : Math.floor((offsetX - LEFT) / step)
    const on = (type: 'pointermove' | 'pointerleave' | 'click', then: (event: MouseEvent) => void) =>
      svg.current!.addEventListener(type, then, { signal: over.signal })
    on('pointermove', event => setLooked(indexAt(event)))
    on('pointerleave', () => setLooked(undefined))
    on('click', event => {
      const column = columns[indexAt(event) ?? -1]
      if (column) onChoose(column)
    })
    return () => over.abort()
  })
  const shown = looked === undefined ? undefined : columns[looked]
  const middle = LEFT + step * ((looked ?? 0) + 0.5)
  const tipAt = Math.min(Math.max(middle, TIP_PX / 2), width - TIP_PX / 2)
  return (
    <figure class="stack stack-tight chart-frame" ref={frame}>
      <div class="legend">
        {series.map(({ name, label: words }) => (
          <span key={name} class={`is-${name}`}>
            {words}
          </span>
        ))}
      </div>
      {shown && (
        <div class="chart-tip" role="status" style={{ left: `${tipAt}px` }}>
          <b>{shown.title}</b>
          {series.map(({ name, label: words }) => (
            <span key={name} class={`is-${name}`}>
              {count(shown.values[name] ?? 0)} {words.toLowerCase()}
            </span>
          ))}
        </div>
      )}
      <svg ref={svg} class="chart" viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={label}>
        <Grid most={most} width={width} yOf={yOf} />
        {shown && <line class="cross" x1={middle} x2={middle} y1={TOP} y2={HEIGHT - BOTTOM} />}
        {columns.map((column, i) => (
          <g key={column.title} class="column">
            <rect class="hit" x={LEFT + step * i} y={TOP} width={step} height={HEIGHT - TOP - BOTTOM} />
            <Pile values={column.values} series={series} x={LEFT + step * i} step={step} yOf={yOf} />
            {i % everyLabel === 0 && (
              <text x={LEFT + step * (i + 0.5)} y={HEIGHT - 6} text-anchor="middle">
                {column.label}
              </text>
            )}
          </g>
        ))}
      </svg>
    </figure>
  )
}

interface GridProps {
  most: number
  width: number
  yOf: (value: number) => number
}

function Grid({ most, width, yOf }: GridProps) {
  return (
    <>
      {Array.from({ length: LINES + 1 }, (_, i) => {
        const value = (most / LINES) * i
        return (
          <g key={value}>
            <line class="grid" x1={LEFT} x2={width} y1={yOf(value)} y2={yOf(value)} />
            <text x={LEFT - 8} y={yOf(value) + 4} text-anchor="end">
              {shortCount(value)}
            </text>
          </g>
        )
      })}
    </>
  )
}

/** Width of the container, in px. */
function useWidth() {
  const ref = useRef<HTMLElement>(null)
  const [width, setWidth] = useState(FIRST_WIDTH_PX)
  useEffect(() => {
    const watch = new ResizeObserver(([entry]) =>
      setWidth(Math.max(240, Math.round(entry!.contentRect.width))),
    )
    watch.observe(ref.current!)
    return () => watch.disconnect()
  }, [])
  return [ref, width] as const
}

interface PileProps {
  values: Column['values']
  series: readonly Series[]
  x: number
  step: number
  yOf: (value: number) => number
}

function Pile({ values, series, x, step, yOf }: PileProps) {
  const width = Math.min(step * 0.68, 34)
  let below = 0
  return (
    <>
      {series.map(({ name }) => {
        const value = values[name] ?? 0
        if (value === 0) return null
        const [top, bottom] = [yOf(below + value), yOf(below)]
        below += value
        return (
          <rect
            key={name}
            class={`is-${name}`}
            x={x + (step - width) / 2}
            y={top}
            width={width}
            height={Math.max(1.5, bottom - top)}
            rx={Math.min(2, width / 4)}
          />
        )
      })}
    </>
  )
}

/** Rounds up to a number that divides evenly into three grid lines. */
function niceMost(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  const step = [0.3, 0.6, 0.9, 1.2, 1.5, 3, 6, 9, 12].find(factor => factor * power >= value) ?? 12
  return Math.max(3, Math.ceil(step * power))
}

function shortCount(value: number): string {
  if (value >= 1_000_000) return `${+(value / 1_000_000).toFixed(1)} m`
  if (value >= 10_000) return `${Math.round(value / 1_000)} k`
  return count(Math.round(value))
}
