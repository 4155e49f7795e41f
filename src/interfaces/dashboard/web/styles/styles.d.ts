/** Styles are bundled beside the scripts that name them. */
declare module '*.css'
