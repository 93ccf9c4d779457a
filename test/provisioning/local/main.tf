# A cloud for tests: each resource is a file below $LOCAL_CLOUD, named by its id, that holds its address.
# Making and removing one takes $LOCAL_SECONDS before and after the file is there or gone.

variable "cluster_id" {
  type = string
}

variable "agents" {
  type = set(string)
}

variable "node_tokens" {
  type      = map(string)
  sensitive = true
}

resource "terraform_data" "network" {
  input = { path = "${var.cluster_id}", address = "terraform_data.network" }

  provisioner "local-exec" {
    command = "sh \"$LOCAL_CLOUD/create\" '${self.input.path}' '${self.id}' '${self.input.address}'"
  }
  provisioner "local-exec" {
    when    = destroy
    command = "sh \"$LOCAL_CLOUD/delete\" '${self.id}'"
  }
}

resource "terraform_data" "control_plane" {
  input      = { path = "${var.cluster_id}", address = "terraform_data.control_plane" }
  depends_on = [terraform_data.network]

  provisioner "local-exec" {
    command = "sh \"$LOCAL_CLOUD/create\" '${self.input.path}' '${self.id}' '${self.input.address}'"
  }
  provisioner "local-exec" {
    when    = destroy
    command = "sh \"$LOCAL_CLOUD/delete\" '${self.id}'"
  }
}

resource "terraform_data" "agent" {
  for_each   = var.agents
  input      = { path = "${var.cluster_id}", address = "terraform_data.agent[\"${each.key}\"]" }
  depends_on = [terraform_data.network]

  provisioner "local-exec" {
    command = "sh \"$LOCAL_CLOUD/create\" '${self.input.path}' '${self.id}' '${self.input.address}'"
  }
  provisioner "local-exec" {
    when    = destroy
    command = "sh \"$LOCAL_CLOUD/delete\" '${self.id}'"
  }
}
