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
  # An account that is throttled is called more slowly, instead of as often again.
  retry_mode = "adaptive"

  # The plugin renews the session, so that a run may take longer than one lives.
  dynamic "assume_role" {
    for_each = compact([var.role_arn])
    content {
      role_arn     = assume_role.value
      external_id  = var.external_id
      session_name = "binnacle-${var.job_id}"
    }
  }

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
