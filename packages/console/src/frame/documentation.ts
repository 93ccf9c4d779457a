/** The page is open in `local`, asks superusers for their password in `staging`, and is not there in `production`. */
export const isDocumentationOpen = (status: number, isSuperuser: boolean): boolean =>
  status === 200 || (status === 401 && isSuperuser);
