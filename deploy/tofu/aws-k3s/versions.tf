terraform {
  required_version = ">= 1.8"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "6.49.0"
    }
  }
}

provider "aws" {
  region = var.region
  # The default of 25 would try an endpoint that cannot be reached for half an hour.
  max_retries = 4

  default_tags {
    tags = {
      "binnacle:cluster" = var.cluster_id
      "binnacle:job"     = var.job_id
    }
  }

  # The tag names the job that made a resource, so no later job may change it.
  ignore_tags {
    keys = ["binnacle:job"]
  }
}
