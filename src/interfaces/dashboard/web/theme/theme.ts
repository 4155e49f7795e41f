/** Theme: light, dark, or that of the system by default. */
import { effect, signal } from '@preact/signals'

export type Theme = 'system' | 'light' | 'dark'

const KEY = 'mailhorn.theme'
const dark = matchMedia('(prefers-color-scheme: dark)')
const stored = localStorage.getItem(KEY)

export const theme = signal<Theme>(stored === 'light' || stored === 'dark' ? stored : 'system')

export function chooseTheme(next: Theme): void {
  theme.value = next
  if (next === 'system') localStorage.removeItem(KEY)
  else localStorage.setItem(KEY, next)
}

/** Applies the theme to the page, now and after changes. */
export function followTheme(): void {
  const show = () => {
    const isDark = theme.value === 'dark' || (theme.value === 'system' && dark.matches)
    document.documentElement.dataset.theme = isDark ? 'dark' : 'light'
  }
  effect(show)
  dark.addEventListener('change', show)
}
