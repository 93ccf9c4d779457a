# The control plane runs the AWS cloud controller and the controller of the EBS CSI driver. The agents have no role: the
# kubelet learns the id of its machine from the metadata service, and nothing else on an agent asks AWS.

locals {
  claimed = { StringEquals = { "aws:RequestTag/${local.kubernetes_tag}" = "owned" } }
  owned   = { StringEquals = { "aws:ResourceTag/${local.kubernetes_tag}" = "owned" } }
  snapshots = flatten([for bucket in compact([var.snapshot_bucket]) : [
    {
      Sid      = "Snapshots"
      Effect   = "Allow"
      Action   = ["s3:DeleteObject", "s3:GetObject", "s3:PutObject"]
      Resource = ["arn:*:s3:::${bucket}/${var.cluster_id}/*"]
    },
    {
      # k3s also asks whether the bucket exists, which names no prefix.
      Sid       = "ListSnapshots"
      Effect    = "Allow"
      Action    = ["s3:ListBucket"]
      Resource  = ["arn:*:s3:::${bucket}"]
      Condition = { StringLikeIfExists = { "s3:prefix" = "${var.cluster_id}*" } }
    },
  ]])
}

resource "aws_iam_role" "control_plane" {
  name = "binnacle-${var.cluster_id}-control-plane"

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "ec2.amazonaws.com" }
    }]
  })
  # A policy that no state knows of must not keep the role.
  force_detach_policies = true
  permissions_boundary  = var.permissions_boundary == "" ? null : var.permissions_boundary

  tags = { "binnacle:address" = "aws_iam_role.control_plane" }

  lifecycle {
    # Another boundary of the credential is for new clusters.
    ignore_changes = [permissions_boundary]
  }
}

resource "aws_iam_role_policy" "control_plane" {
  name = "kubernetes"
  role = aws_iam_role.control_plane.name

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat([
      {
        Sid    = "Read"
        Effect = "Allow"
        Action = [
          "ec2:DescribeAccountAttributes",
          "ec2:DescribeAddresses",
          "ec2:DescribeAvailabilityZones",
          "ec2:DescribeInstances",
          "ec2:DescribeInstanceTopology",
          "ec2:DescribeInstanceTypes",
          "ec2:DescribeInternetGateways",
          "ec2:DescribeRegions",
          "ec2:DescribeRouteTables",
          "ec2:DescribeSecurityGroups",
          "ec2:DescribeSnapshots",
          "ec2:DescribeSubnets",
          "ec2:DescribeTags",
          "ec2:DescribeVolumes",
          "ec2:DescribeVolumesModifications",
          "ec2:DescribeVolumeStatus",
          "ec2:DescribeVpcs",
          "elasticloadbalancing:DescribeListeners",
          "elasticloadbalancing:DescribeLoadBalancerAttributes",
          "elasticloadbalancing:DescribeLoadBalancerPolicies",
          "elasticloadbalancing:DescribeLoadBalancers",
          "elasticloadbalancing:DescribeTags",
          "elasticloadbalancing:DescribeTargetGroupAttributes",
          "elasticloadbalancing:DescribeTargetGroups",
          "elasticloadbalancing:DescribeTargetHealth",
        ]
        Resource = "*"
      },
      {
        Sid    = "CreateWithTheTag"
        Effect = "Allow"
        Action = [
          "ec2:CreateVolume",
          "elasticloadbalancing:CreateListener",
          "elasticloadbalancing:CreateLoadBalancer",
          "elasticloadbalancing:CreateTargetGroup",
        ]
        Resource  = "*"
        Condition = local.claimed
      },
      {
        # A snapshot that a volume is made of has tags of its own, and none in the request.
        Sid       = "CreateVolumesOfSnapshots"
        Effect    = "Allow"
        Action    = "ec2:CreateVolume"
        Resource  = "arn:*:ec2:*:*:snapshot/*"
        Condition = local.owned
      },
      {
        Sid       = "CreateGroupsAndSnapshotsWithTheTag"
        Effect    = "Allow"
        Action    = ["ec2:CreateSecurityGroup", "ec2:CreateSnapshot"]
        Resource  = ["arn:*:ec2:*:*:security-group/*", "arn:*:ec2:*:*:snapshot/*"]
        Condition = local.claimed
      },
      {
        Sid      = "CreateGroupsInTheNetwork"
        Effect   = "Allow"
        Action   = "ec2:CreateSecurityGroup"
        Resource = aws_vpc.cluster.arn
      },
      {
        Sid      = "TagWhatIsCreated"
        Effect   = "Allow"
        Action   = "ec2:CreateTags"
        Resource = ["arn:*:ec2:*:*:security-group/*", "arn:*:ec2:*:*:snapshot/*", "arn:*:ec2:*:*:volume/*"]
        Condition = {
          StringEquals = { "ec2:CreateAction" = ["CreateSecurityGroup", "CreateSnapshot", "CreateVolume"] }
        }
      },
      {
        Sid    = "ChangeWhatHasTheTag"
        Effect = "Allow"
        Action = [
          "ec2:AttachVolume",
          "ec2:AuthorizeSecurityGroupIngress",
          "ec2:CreateSnapshot",
          "ec2:DeleteSecurityGroup",
          "ec2:DeleteSnapshot",
          "ec2:DeleteVolume",
          "ec2:DetachVolume",
          "ec2:ModifyVolume",
          "ec2:RevokeSecurityGroupIngress",
          "elasticloadbalancing:AddTags",
          "elasticloadbalancing:ApplySecurityGroupsToLoadBalancer",
          "elasticloadbalancing:AttachLoadBalancerToSubnets",
          "elasticloadbalancing:ConfigureHealthCheck",
          "elasticloadbalancing:CreateListener",
          "elasticloadbalancing:CreateLoadBalancerListeners",
          "elasticloadbalancing:CreateLoadBalancerPolicy",
          "elasticloadbalancing:DeleteListener",
          "elasticloadbalancing:DeleteLoadBalancer",
          "elasticloadbalancing:DeleteLoadBalancerListeners",
          "elasticloadbalancing:DeleteTargetGroup",
          "elasticloadbalancing:DeregisterInstancesFromLoadBalancer",
          "elasticloadbalancing:DeregisterTargets",
          "elasticloadbalancing:DetachLoadBalancerFromSubnets",
          "elasticloadbalancing:ModifyListener",
          "elasticloadbalancing:ModifyLoadBalancerAttributes",
          "elasticloadbalancing:ModifyTargetGroup",
          "elasticloadbalancing:ModifyTargetGroupAttributes",
          "elasticloadbalancing:RegisterInstancesWithLoadBalancer",
          "elasticloadbalancing:RegisterTargets",
          "elasticloadbalancing:SetLoadBalancerPoliciesForBackendServer",
          "elasticloadbalancing:SetLoadBalancerPoliciesOfListener",
          "elasticloadbalancing:SetSecurityGroups",
        ]
        Resource  = "*"
        Condition = local.owned
      },
      {
        Sid    = "TagNewLoadBalancers"
        Effect = "Allow"
        Action = "elasticloadbalancing:AddTags"
        Condition = {
          StringEquals = { "elasticloadbalancing:CreateAction" = ["CreateListener", "CreateLoadBalancer", "CreateTargetGroup"] }
        }
        Resource = "*"
      },
      {
        Sid      = "FirstLoadBalancerOfTheAccount"
        Effect   = "Allow"
        Action   = "iam:CreateServiceLinkedRole"
        Resource = "arn:*:iam::*:role/aws-service-role/elasticloadbalancing.amazonaws.com/*"
        Condition = {
          StringEquals = { "iam:AWSServiceName" = "elasticloadbalancing.amazonaws.com" }
        }
      },
    ], local.snapshots)
  })
}

# Its name differs from the role's, because a resource is known by its id alone.
resource "aws_iam_instance_profile" "control_plane" {
  name = "binnacle-${var.cluster_id}-control-plane-profile"
  role = aws_iam_role.control_plane.name

  tags = { "binnacle:address" = "aws_iam_instance_profile.control_plane" }
}
