data "aws_ec2_instance_type" "node" {
  instance_type = var.instance_type
}

data "aws_ami" "ubuntu" {
  # Canonical.
  owners      = ["099720109477"]
  most_recent = true

  filter {
    name   = "name"
    values = ["ubuntu/images/hvm-ssd-gp3/ubuntu-noble-24.04-*-server-*"]
  }

  filter {
    name   = "architecture"
    values = [contains(data.aws_ec2_instance_type.node.supported_architectures, "arm64") ? "arm64" : "x86_64"]
  }

  filter {
    name   = "virtualization-type"
    values = ["hvm"]
  }
}

locals {
  agents           = { for index in range(var.agent_count) : "agent-${index + 1}" => index }
  subnets_by_place = [aws_subnet.public["zone-1"].id, aws_subnet.public["zone-2"].id]
}

resource "aws_key_pair" "cluster" {
  key_name   = "binnacle-${var.cluster_id}"
  public_key = var.ssh_public_key

  tags = { "binnacle:address" = "aws_key_pair.cluster" }

  lifecycle {
    # AWS does not tell it, so an imported key pair would be replaced, and the machines with it.
    ignore_changes = [public_key]
  }
}

resource "aws_instance" "control_plane" {
  ami                    = data.aws_ami.ubuntu.id
  instance_type          = var.instance_type
  subnet_id              = aws_subnet.control_plane.id
  private_ip             = cidrhost(aws_subnet.control_plane.cidr_block, 10)
  vpc_security_group_ids = [aws_security_group.nodes.id]
  key_name               = aws_key_pair.cluster.key_name
  iam_instance_profile   = aws_iam_instance_profile.control_plane.name
  user_data              = local.control_plane_user_data

  metadata_options {
    http_endpoint               = "enabled"
    http_tokens                 = "required"
    http_put_response_hop_limit = 1
    instance_metadata_tags      = "disabled"
  }

  root_block_device {
    volume_type           = "gp3"
    volume_size           = var.disk_size_gb
    encrypted             = true
    delete_on_termination = true
    tags                  = { Name = "binnacle-${var.name}-control-plane" }
  }

  tags = merge(local.kubernetes_tags, {
    Name               = "binnacle-${var.name}-control-plane"
    "binnacle:address" = "aws_instance.control_plane"
  })

  lifecycle {
    # A new image or a new token is for new machines.
    ignore_changes = [ami, user_data, subnet_id, private_ip]
  }

  # Without rights and a way out the cloud controller fails in its first minutes.
  depends_on = [
    aws_default_route_table.cluster,
    aws_iam_role_policy.control_plane,
    aws_vpc_security_group_egress_rule.all,
    aws_vpc_security_group_ingress_rule.nodes,
  ]
}

resource "aws_instance" "agent" {
  for_each = local.agents

  ami                    = data.aws_ami.ubuntu.id
  instance_type          = var.instance_type
  subnet_id              = local.subnets_by_place[each.value % 2]
  vpc_security_group_ids = [aws_security_group.nodes.id]
  key_name               = aws_key_pair.cluster.key_name

  user_data = templatefile("${path.module}/cloud-init.yaml.tftpl", {
    node = merge(local.bootstrap, local.tokens[each.key], {
      node   = each.key
      server = "https://${aws_instance.control_plane.private_ip}:6443"
    })
    script    = file("${path.module}/bootstrap.sh")
    manifests = {}
  })

  metadata_options {
    http_endpoint               = "enabled"
    http_tokens                 = "required"
    http_put_response_hop_limit = 1
    instance_metadata_tags      = "disabled"
  }

  root_block_device {
    volume_type           = "gp3"
    volume_size           = var.disk_size_gb
    encrypted             = true
    delete_on_termination = true
    tags                  = { Name = "binnacle-${var.name}-${each.key}" }
  }

  tags = merge(local.kubernetes_tags, {
    Name               = "binnacle-${var.name}-${each.key}"
    "binnacle:address" = "aws_instance.agent/${each.key}"
  })

  lifecycle {
    ignore_changes = [ami, user_data, subnet_id]
  }

  depends_on = [
    aws_default_route_table.cluster,
    aws_vpc_security_group_egress_rule.all,
    aws_vpc_security_group_ingress_rule.nodes,
  ]
}
