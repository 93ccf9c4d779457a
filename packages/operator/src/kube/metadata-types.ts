/** What a request accepts that reads of objects no more than their metadata: of one object and its changes, and of a list. */
export const METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
export const METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
