/** Dialog that lists the keyboard shortcuts. */
import { Dialog } from '../components/dialog.tsx'
import { openDialog, ownPlaces } from './keyboard.ts'

const isMac = /Mac|iPhone|iPad/.test(navigator.platform)
/** Name of the key that goes with the letters of commands. */
const CONTROL = isMac ? '⌘' : 'Ctrl'
export const PALETTE_KEYS = `${CONTROL} K`

const GENERAL: readonly (readonly [keys: string, effect: string])[] = [
  [PALETTE_KEYS, 'Search pages and objects'],
  ['/', 'Search the list of the page'],
  ['j', 'Next row'],
  ['k', 'Previous row'],
  ['x', 'Select the row; with Shift, the rows since the last one, too'],
  ['Enter', 'Go from the search to the list; open the row'],
  [`${CONTROL} S`, 'Save a template'],
  ['?', 'Show these shortcuts'],
]

export function Shortcuts() {
  if (openDialog.value !== 'shortcuts') return null
  return (
    <Dialog
      title="Keyboard shortcuts"
      wide
      onClose={() => {
        openDialog.value = undefined
      }}
    >
      <div class="dialog-body shortcuts">
        <KeyList title="Everywhere" rows={GENERAL} />
        <KeyList title="Go to" rows={ownPlaces().map(({ key, label }) => [`g ${key}`, label] as const)} />
      </div>
    </Dialog>
  )
}

function KeyList({ title, rows }: { title: string; rows: typeof GENERAL }) {
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <dl>
        {rows.map(([keys, effect]) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map(key => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{effect}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
