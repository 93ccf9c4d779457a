"""Python runs this at its start, before moto.

AWS shows the security groups of a machine's first network interface as those of the machine. moto shows only those that the request names
beside its interfaces, and OpenTofu would add them in every plan. The plugin names them in an interface where a machine gets a fixed address.
"""

from moto.ec2.models.instances import Instance

prep_nics = Instance.prep_nics


def prep_nics_and_groups(self, *args, **kwargs):
    prep_nics(self, *args, **kwargs)
    if not self.security_groups:
        self.security_groups = list(self.nics[0]._group_set)


Instance.prep_nics = prep_nics_and_groups
