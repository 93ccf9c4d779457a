# What OpenTofu may install, on every platform. Init never changes it; `tofu providers lock` writes it anew for another version.

provider "registry.opentofu.org/hashicorp/aws" {
  version     = "6.49.0"
  constraints = "6.49.0"
  hashes = [
    "h1:0WqfoBWjZLSnJ5bvxEObUWcNb7WnzcY9ykbRjIVbVrM=",
    "h1:6c9ce8Agur4LG45zXP6kGNlIf6Qtdl0Efj/5x58Z1+4=",
    "h1:7ZpbN+1ykhPh65vKxa6SoAlcQC7BMqrAi/uqne/vtvM=",
    "h1:AarxG2fIBkoGyYUpQQcfwMv6kDM3J9Ci6s4urhwsyj0=",
    "h1:NYTh/95wjWoXnLcufPF+9OiTH40tIeimMTFxJAir7HA=",
    "h1:POg0vYjZOwfhooqryL4eWUDWoinX9s2+p0e8JYnZmC8=",
    "h1:PlIPGGNkGEe/eJBh932R0JhtTBYpvOeYvHsnj78tPdU=",
    "h1:RDq+cZIn+VjE5IB/BMuP9GzkjzBetNpH860fZlNldeY=",
    "h1:VHvGHPXla11fPM0L96EkVaFJlFN2Rxk3JhCITJCrUeU=",
    "h1:WmCggaJGFenfVVk8jC0cdKlM/iqV4H1WoeQUHGSPkSA=",
    "h1:d6Wra/nXOMZxHgMM0ZfV6WK04zxByOJbIB8VFn2R3K8=",
    "h1:fvl++BsYha+M9YOpLSL9qWw3DnymIkbKGOmDASftedg=",
    "h1:l+8KapsYtfL+tYQXu7tKOzqsPigY9DlhnJkUm+62W4o=",
    "h1:xHeKFpZMp1Nuv1PeIAjAd+/0LsbIPsDVaPgc9E24kvg=",
    "h1:ypAokSdDxgR55nQJwx0y8Hg0CxEFXHeSpK9TKHMu+9A=",
    "zh:11e3bdc8ad4bbf4cc0578d495b7c8984cbd0a091eb33a93d1e4052c2749debc5",
    "zh:157592d843e09692be2f47685c083774b7c733696d85158959e777c39bce7146",
    "zh:1a22861c96fd121191508a62ef26766abb2a74d8a6743e8a5767070b300f2c71",
    "zh:1c903d9604481f8a3c8bc433a42fe5996e82d90eae997bd73be6c28a96a9f5da",
    "zh:5fd4b32e028878fab61a998036a8d3fb464ac14760613e178a8ef1e9acd7553d",
    "zh:66069bc751b3923672160ff5e43e2e26e2195de333559946f455168302da7d84",
    "zh:6b2f5165d113056a135469ec5cad23719747797a26d168b432139051081bcf2d",
    "zh:6d8e2bf4648329434431a54d59e557371e33a008a62bc274ceeb3fad5f65cf31",
    "zh:85b78949524516acf6fa0fb42fa65864a1224cf3c0544c29f3ff030d4af9fa48",
    "zh:8867a24d0cf0d2115e93c0e8ec8be12d36de16ee244473e8783df76446390bf3",
    "zh:8b8c098fa5ec67950283e5b3f1b4b829c0a2aee9df03669046ab1efe21499162",
    "zh:95f96caa2634fc6cbfc25f6b5202482f5fa6bf7e8fa56d77cd1c52e5d0128bd0",
    "zh:c076d91da0d38bf4a9849df616f61fb9b4f8297792bb878d1f570992e033d778",
    "zh:da2b431dab43584f98ebd8653cac6ebbc44645aa1fc888c899f34cfd544bb186",
    "zh:e7e69626934dadf54ea52e7d27e13c89ec927f93e850169ae13e440283977dd8",
  ]
}
