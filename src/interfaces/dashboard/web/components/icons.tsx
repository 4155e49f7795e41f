/** Line icons, 18 px square, in the color of the surrounding text. */
import type { JSX } from 'preact'

const PATHS = {
  overview: 'M3 11.5 9 4l6 7.5M5 9.5V15h8V9.5',
  start: 'M9 2.5v13M9 4h5l-1.5 2.5L14 9H9',
  updown: 'm6 7 3-3.5L12 7M6 11l3 3.5 3-3.5',
  filter: 'M2.5 5h13M5 9h8M7.5 13h3',
  more: 'M4 9h.01M9 9h.01M14 9h.01',
  emails: 'M2.5 4.5h13v9h-13zM2.5 5l6.5 5 6.5-5',
  inbox: 'M2.5 10.5h4l1 2h3l1-2h4M2.5 10.5 4.5 4h9l2 6.5V14h-13z',
  broadcasts: 'M3 7.5v3h2.5L11 14V4L5.5 7.5zM13.5 6.5c1.5 1.5 1.5 3.5 0 5',
  audiences:
    'M6.5 8.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM2 14.5c0-2.5 2-4 4.5-4s4.5 1.5 4.5 4M12 4c1.5 0 2.3 1 2.3 2.2S13.5 8.5 12 8.5M13.5 10.7c1.6.5 2.5 1.9 2.5 3.8',
  templates: 'M4 2.5h7l3.5 3.5v9.5H4zM6.5 8h5M6.5 11h5',
  domains: 'M9 15.5a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13ZM2.5 9h13M9 2.5c4 4.5 4 8.5 0 13-4-4.5-4-8.5 0-13',
  keys: 'M6 12.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM9 9.5h6.5V12M12.5 9.5v2',
  webhooks: 'M7 6.5a2 2 0 1 1 3 .8l2.5 4.2M9 8l-2.5 4M5 10.5a2 2 0 1 0 2.3 2.5H12M12.5 11a2 2 0 1 1-1 3.5',
  logs: 'M4 2.5h10v13H4zM6.5 6h5M6.5 9h5M6.5 12h3',
  suppressions: 'M9 15.5a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13ZM4.5 4.5l9 9',
  deliverability: 'M9 2.5 14.5 4.5v4c0 3.5-2.5 6-5.5 7-3-1-5.5-3.5-5.5-7v-4zM6.5 9l2 2 3.5-4',
  queue: 'M3 4.5h12M3 9h12M3 13.5h7',
  destinations:
    'M9 15.5c3-3.5 4.5-6 4.5-8a4.5 4.5 0 0 0-9 0c0 2 1.5 4.5 4.5 8ZM9 9a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3Z',
  accounts: 'M3 15V5.5L9 3v12M9 15h6V7.5L9 6M5 7.5h2M5 10.5h2M11 10h2M11 12.5h2',
  usage: 'M3 15V9M7 15V5M11 15V8M15 15V3',
  settings:
    'M3 5h6M12 5h3M3 13h3M9 13h6M10.5 6.7a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4ZM7.5 14.7a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4Z',
  leave: 'M7 3H3.5v12H7M11.5 5.5 15 9l-3.5 3.5M15 9H7',
  light:
    'M9 12a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM9 2v1.5M9 14.5V16M2 9h1.5M14.5 9H16M4 4l1 1M13 13l1 1M14 4l-1 1M5 13l-1 1',
  dark: 'M14.5 10.5A6 6 0 0 1 7.5 3.5a6 6 0 1 0 7 7Z',
  system: 'M2.5 3.5h13v9h-13zM6.5 15.5h5M9 12.5v3',
  search: 'M8 13a5 5 0 1 0 0-10 5 5 0 0 0 0 10ZM11.7 11.7 15.5 15.5',
  copy: 'M6.5 6.5h8.5V15H6.5zM4.5 11.5H3V3h8.5v1.5',
  check: 'm3.5 9.5 3.5 3.5 7.5-8',
  cross: 'm4.5 4.5 9 9M13.5 4.5l-9 9',
  warn: 'M9 3 16 15H2zM9 8v3M9 13v.200',
  info: 'M9 15.5a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13ZM9 8.5V12M9 6v.200',
  back: 'm10.5 4.5-4.5 4.5 4.5 4.5',
  next: 'm7.5 4.5 4.5 4.5-4.5 4.5',
  down: 'm4.5 7 4.5 4.5L13.5 7',
  up: 'm4.5 11 4.5-4.5 4.5 4.5',
  menu: 'M2.5 5h13M2.5 9h13M2.5 13h13',
  plus: 'M9 3.5v11M3.5 9h11',
  again: 'M14.5 8A5.7 5.7 0 1 0 14 11.5M14.5 3.5V8H10',
  slow: 'M3 13.5a6 6 0 1 1 12 0M9 13.5 6.200 9.500M1.500 13.5h15',
  trash: 'M3.5 5h11M7 5V3h4v2M5 5l.700 10h6.6L13 5M7.7 8v4.5M10.3 8v4.5',
  out: 'M10 3.5h4.5V8M14.5 3.5 8 10M12.5 10.5v4h-9v-9h4',
  save: 'M9 3v8M5.5 8 9 11.5 12.5 8M3 15h12',
  clock: 'M9 15.5a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13ZM9 5.5V9l2.5 1.5',
  clip: 'm13.5 8.5-5 5a3 3 0 0 1-4.2-4.2l5.7-5.7a2 2 0 0 1 2.8 2.8l-5.3 5.3',
} as const

export type IconName = keyof typeof PATHS

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 18 18"
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  )
}

/** Logo: a post horn. */
export function Horn({ size = 24, class: className }: { size?: number; class?: string }): JSX.Element {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 32 32"
      fill="none"
      stroke="currentColor"
      stroke-width="2.3"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
      {...(className !== undefined && { class: className })}
    >
      <circle cx="14.5" cy="18" r="7.2" />
      <path d="M2.5 10.8h12c5.5 0 9.5-2 14-6.3v15c-3.2-3.4-5-4.6-7.3-5" />
      <path d="M2.5 9.3v3" />
    </svg>
  )
}
