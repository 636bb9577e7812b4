"""What a standstill is put down to, by where the kernel shows its ranks to wait."""

import re
from collections.abc import Sequence

from hedgerow.wire import Activity
from hedgerow_operator.core.activity import STORAGE_STATE
from hedgerow_operator.core.attribution.fault_class import FaultClass
from hedgerow_operator.core.gang import RankView

# Waits for the server of a network file system: fs/nfs, net/sunrpc, fs/fuse, fs/ceph, fs/smb, Lustre, GPFS.
_NETWORK_STORAGE = re.compile(
    r"^_*(?:nfs|rpc_|fuse_|request_wait_answer|ceph_|cifs_|smb|ldlm_|ptlrpc|cl_sync_io|gpfs|mmfs)"
)
# Waits for a disk: block layer, page cache, journals; and the system calls that end in them.
_DISK = re.compile(r"io_schedule|bit_wait|wait_on_(?:page|buffer|bit)|folio_wait|jbd2|xfs_|ext4_|btrfs_|submit_bio|blk_"
                   r"|^f(?:data)?sync$|^sync")  # fmt: skip
_DRIVER = re.compile(r"^_*(?:nvidia|nv_|uvm_|os_acquire)")


def class_of_standstill(guilty: Sequence[RankView]) -> FaultClass:
    """Storage where a guilty rank waits for it, Hardware where one cannot leave the GPU's driver; else Unknown."""
    classes = {_class(rank.report.activity) for rank in guilty}
    return next((found for found in (FaultClass.STORAGE, FaultClass.HARDWARE) if found in classes), FaultClass.UNKNOWN)


def _class(activity: Activity) -> FaultClass:
    channel = activity.wait_channel or ""
    uninterruptible = activity.process_state == STORAGE_STATE
    if _NETWORK_STORAGE.search(channel) or (uninterruptible and _DISK.search(channel)):
        return FaultClass.STORAGE
    return FaultClass.HARDWARE if uninterruptible and _DRIVER.search(channel) else FaultClass.UNKNOWN
