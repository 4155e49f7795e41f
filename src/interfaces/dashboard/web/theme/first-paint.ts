/** Runs before the first paint, so that the wrong theme never flashes. */
const chosen = localStorage.getItem('mailhorn.theme')
const isDark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
document.documentElement.dataset.theme = isDark ? 'dark' : 'light'
