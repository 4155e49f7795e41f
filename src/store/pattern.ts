/** Patterns for `like … escape '!'`, in which every character of what is searched stands for itself. */

export function containing(text: string): string {
  return `%${text.replace(/[!%_]/g, '!$&')}%`
}

export function endingIn(text: string): string {
  return containing(text).slice(0, -1)
}
