/** Styles are bundled with the scripts that import them. */
declare module '*.css'
