/** Tabs: several views of one object, of which one is shown. */

interface TabsProps<Name extends string> {
  /** Accessible name of the tab list. */
  label: string
  tabs: readonly (readonly [name: Name, words: string])[]
  chosen: Name
  onChoose: (name: Name) => void
}

export function Tabs<Name extends string>({ label, tabs, chosen, onChoose }: TabsProps<Name>) {
  return (
    <div class="tabs" role="tablist" aria-label={label}>
      {tabs.map(([name, words]) => (
        <button
          key={name}
          type="button"
          role="tab"
          aria-selected={name === chosen}
          onClick={() => onChoose(name)}
        >
          {words}
        </button>
      ))}
    </div>
  )
}
