"""Every MongoDB index of every collection; the server makes what is missing when it starts."""

from typing import Final

from pymongo import ASCENDING, DESCENDING, IndexModel

_NEWEST_FIRST = [("created_at", DESCENDING), ("_id", DESCENDING)]
# Behind the order as well: what does not match is passed over, and counted, without being read.
_GENERATED = ("is_generated", ASCENDING)
_APPROVED = ("is_approved", ASCENDING)
_OF_WORKFLOW = [("workflow_id", ASCENDING)]
_UPDATED = [("updated_at", ASCENDING)]
_LAST_UPDATED_FIRST = [("updated_at", DESCENDING), *_NEWEST_FIRST]

INDEXES: Final[dict[str, list[IndexModel]]] = {
    "trajectories": [
        IndexModel([("organization_id", ASCENDING), *prefix, *_NEWEST_FIRST, *filtered], name=name)
        for name, prefix, filtered in (
            ("newest", [], [_GENERATED, _APPROVED]),
            ("newest_generated", [_GENERATED], [_APPROVED]),
            ("newest_approved", [_APPROVED], [_GENERATED]),
            ("newest_of_workflow", _OF_WORKFLOW, [_GENERATED, _APPROVED]),
            ("newest_of_review", [("review.state", ASCENDING)], [_GENERATED, _APPROVED]),
            ("newest_of_run", [("run_id", ASCENDING)], [_GENERATED, _APPROVED]),
        )
    ]
    + [
        # The states before the order, so that the parts of several states are merged; behind it
        # what else a list can be filtered by.
        IndexModel(
            [
                *(("organization_id", ASCENDING), *prefix, _GENERATED, _APPROVED),
                *(*order, ("created_at", ASCENDING), ("_id", ASCENDING)),
                *(("run_id", ASCENDING), *filtered),
            ],
            name=name,
        )
        for name, prefix, order, filtered in (
            ("by_update", [], _UPDATED, []),
            ("by_update_of_workflow", _OF_WORKFLOW, _UPDATED, []),
            ("by_name", [], [("name_order", ASCENDING)], _UPDATED),
            ("by_name_of_workflow", _OF_WORKFLOW, [("name_order", ASCENDING)], _UPDATED),
        )
    ]
    + [
        IndexModel(
            [
                *(("organization_id", ASCENDING), ("machine_id", ASCENDING)),
                *(*_NEWEST_FIRST, _GENERATED, _APPROVED),
            ],
            name="newest_of_machine",
            # Of its type alone MongoDB would not conclude that one machine's are all in it.
            partialFilterExpression={"machine_id": {"$gt": ""}},
        ),
        # One key for each author.
        IndexModel(
            [
                *(("organization_id", ASCENDING), ("authors", ASCENDING)),
                *(*_NEWEST_FIRST, _GENERATED, _APPROVED),
            ],
            name="newest_of_author",
            partialFilterExpression={"authors": {"$gt": ""}},
        ),
        IndexModel(
            [("organization_id", ASCENDING), ("workflow_id", ASCENDING)],
            name="main_of_workflow",
            unique=True,
            partialFilterExpression={"is_main": True},
        ),
        IndexModel(
            [
                ("organization_id", ASCENDING),
                ("workflow_id", ASCENDING),
                *_LAST_UPDATED_FIRST,
            ],
            name="latest_of_workflow",
            partialFilterExpression={"is_generated": True, "step_count": {"$gte": 1}},
        ),
        IndexModel(
            [
                ("organization_id", ASCENDING),
                *_NEWEST_FIRST,
                *(_GENERATED, _APPROVED, ("workflow_id", ASCENDING)),
                *(("unindexed", ASCENDING), ("search", ASCENDING)),
            ],
            # With all that most lists and searches ask of these, which they go through.
            name="unindexed",
            partialFilterExpression={"unindexed": {"$gte": "new"}},
        ),
        IndexModel(
            [("organization_id", ASCENDING), *_NEWEST_FIRST, _GENERATED, _APPROVED],
            name="long",
            partialFilterExpression={"unindexed": "long"},
        ),
        # Whose pictures are to go: at a time, or the oldest first.
        IndexModel(
            [("pictures_until", ASCENDING), ("organization_id", ASCENDING)],
            name="pictures_until",
            partialFilterExpression={"pictures_until": {"$type": "date"}},
        ),
        IndexModel(
            [("organization_id", ASCENDING), *_UPDATED, ("_id", ASCENDING)],
            name="with_pictures",
            partialFilterExpression={"has_pictures": True},
        ),
    ],
    "trajectory_entries": [
        # In segments, so that new keys go into few pages, and not into every page there is.
        IndexModel(
            [
                *(("organization_id", ASCENDING), ("segment", ASCENDING)),
                ("suffixes", ASCENDING),
            ],
            name="suffixes_of_segment",
        ),
        # The texts are in it, so that what nearly everything contains is counted without reading.
        IndexModel(
            [
                ("organization_id", ASCENDING),
                *_NEWEST_FIRST,
                *(_GENERATED, _APPROVED, ("search", ASCENDING)),
            ],
            name="newest",
        ),
    ],
    # Read without the pictures themselves.
    "pictures": [
        IndexModel([("organization_id", ASCENDING), ("size", ASCENDING)], name="sizes"),
        IndexModel([("_id", ASCENDING), ("used_at", ASCENDING), ("size", ASCENDING)], name="ages"),
    ],
    "picture_uses": [IndexModel([("trajectory", ASCENDING)], name="of_trajectory")],
    "workflows": [IndexModel([("organization_id", ASCENDING), *_NEWEST_FIRST], name="newest")],
    "organizations": [
        IndexModel(
            [("is_default", ASCENDING)],
            name="one_default",
            unique=True,
            partialFilterExpression={"is_default": True},
        ),
        IndexModel(_NEWEST_FIRST, name="newest"),
    ],
    "tokens": [
        IndexModel([("hash", ASCENDING)], name="hash", unique=True),
        IndexModel([("organization_id", ASCENDING), *_NEWEST_FIRST], name="newest"),
        IndexModel(
            [("organization_id", ASCENDING), ("machine_id", ASCENDING)],
            name="of_machine",
            partialFilterExpression={"machine_id": {"$type": "string"}},
        ),
        IndexModel([("revoked_at", ASCENDING)], name="revoked"),
    ],
    "machines": [
        IndexModel(
            [("organization_id", ASCENDING), ("machine_id", ASCENDING)],
            name="machine",
            unique=True,
        ),
        # The lists, which are counted without being read.
        IndexModel(
            [
                ("organization_id", ASCENDING),
                ("deleted_at", ASCENDING),
                ("machine_id", ASCENDING),
            ],
            name="listed",
        ),
        # Those that a held list has to read again.
        IndexModel(
            [
                *(("organization_id", ASCENDING), ("changed_at", ASCENDING)),
                *(("machine_id", ASCENDING), ("change_id", ASCENDING)),
            ],
            name="changed",
        ),
        IndexModel([("organization_id", ASCENDING), ("pools", ASCENDING)], name="in_pool"),
        IndexModel([("link.node_id", ASCENDING)], name="of_node", sparse=True),
        IndexModel(
            [("word", ASCENDING)],
            name="owed",
            partialFilterExpression={"word": {"$type": "string"}},
        ),
        IndexModel([("control.expires_at", ASCENDING)], name="under_control", sparse=True),
        IndexModel(
            [("pause.until", ASCENDING)],
            name="paused_until",
            partialFilterExpression={"pause.until": {"$type": "date"}},
        ),
    ],
    "pools": [
        IndexModel([("organization_id", ASCENDING), ("name", ASCENDING)], name="name", unique=True),
    ],
    "webhooks": [
        IndexModel([("organization_id", ASCENDING), *_NEWEST_FIRST], name="newest"),
    ],
    "webhook_deliveries": [
        IndexModel(
            [*(("state", ASCENDING), ("webhook_id", ASCENDING)), ("next_attempt_at", ASCENDING)],
            name="due",
        ),
        IndexModel(
            [("organization_id", ASCENDING), ("state", ASCENDING), ("created_at", ASCENDING)],
            name="of_organization",
        ),
        IndexModel([("state", ASCENDING), ("queued_at", ASCENDING)], name="oldest"),
        IndexModel([("webhook_id", ASCENDING), *_NEWEST_FIRST], name="newest"),
        IndexModel([("delete_at", ASCENDING)], name="lifetime", expireAfterSeconds=0),
    ],
    "recordings": [
        IndexModel([("organization_id", ASCENDING), *_NEWEST_FIRST], name="newest"),
        IndexModel([("state", ASCENDING)], name="state"),
    ],
    "help_requests": [
        IndexModel([("organization_id", ASCENDING), *_NEWEST_FIRST], name="newest"),
        IndexModel(
            [("organization_id", ASCENDING), ("state", ASCENDING), ("machine_id", ASCENDING)],
            name="in_state",
        ),
        IndexModel(
            [("expires_at", ASCENDING)],
            name="open_until",
            partialFilterExpression={"state": "open"},
        ),
        IndexModel([("delete_at", ASCENDING)], name="lifetime", expireAfterSeconds=0),
    ],
    "runs": [
        *(
            IndexModel([("organization_id", ASCENDING), *prefix, *_NEWEST_FIRST], name=name)
            for name, prefix in (
                ("newest", []),
                ("newest_in_status", [("status", ASCENDING)]),
                ("newest_of_machine", [("machine_id", ASCENDING)]),
                ("newest_of_workflow", _OF_WORKFLOW),
            )
        ),
        # One run at a time has a machine.
        IndexModel(
            [("organization_id", ASCENDING), ("reserves", ASCENDING)],
            name="one_of_machine",
            unique=True,
            partialFilterExpression={"reserves": {"$type": "string"}},
        ),
        IndexModel(
            [("priority", DESCENDING), ("created_at", ASCENDING), ("_id", ASCENDING)],
            name="in_turn",
            partialFilterExpression={"wants_turn": True},
        ),
        IndexModel(
            [("lease.until", ASCENDING)],
            name="leased_until",
            partialFilterExpression={"lease.until": {"$type": "date"}},
        ),
        IndexModel(
            [("created_at", ASCENDING)],
            name="unattended",
            partialFilterExpression={"lease": {"$type": "null"}, "ended_at": {"$type": "null"}},
        ),
        IndexModel([("delete_at", ASCENDING)], name="lifetime", expireAfterSeconds=0),
    ],
    "recorded_inputs": [
        IndexModel([("delete_at", ASCENDING)], name="lifetime", expireAfterSeconds=0),
    ],
    "invitations": [
        IndexModel([("hash", ASCENDING)], name="hash", unique=True),
        IndexModel([("organization_id", ASCENDING), *_NEWEST_FIRST], name="newest"),
    ],
    "machine_joins": [
        IndexModel([("token_hash", ASCENDING)], name="token", unique=True),
        IndexModel(
            [
                *(("organization_id", ASCENDING), ("invitation_id", ASCENDING)),
                *_NEWEST_FIRST,
            ],
            name="of_invitation",
        ),
    ],
    "commands": [
        IndexModel(
            [
                ("organization_id", ASCENDING),
                ("machine_id", ASCENDING),
                ("accepted_at", ASCENDING),
            ],
            name="sent_to_machine",
            partialFilterExpression={"state": "SENT"},
        ),
        IndexModel([("delete_at", ASCENDING)], name="lifetime", expireAfterSeconds=0),
    ],
    "audit": [
        # The texts behind the order: what does not match is passed over without being read.
        IndexModel(
            [
                ("organization_id", ASCENDING),
                *_NEWEST_FIRST,
                *(("action", ASCENDING), ("token_id", ASCENDING)),
            ],
            name="newest",
        ),
        IndexModel(
            [
                ("organization_id", ASCENDING),
                ("machine_id", ASCENDING),
                *_NEWEST_FIRST,
                ("outcome", ASCENDING),
            ],
            name="of_machine",
        ),
        IndexModel([("delete_at", ASCENDING)], name="lifetime", expireAfterSeconds=0),
    ],
    "idempotency_keys": [
        IndexModel([("delete_at", ASCENDING)], name="lifetime", expireAfterSeconds=0),
    ],
    "events": [
        # Of what still has its events; most of the log was emptied, or is new.
        IndexModel(
            [("created_at", ASCENDING)],
            name="not_emptied",
            partialFilterExpression={"events": {"$exists": True}},
        ),
    ],
    "sessions": [
        IndexModel([("token_hash", ASCENDING), *_NEWEST_FIRST], name="of_token"),
        IndexModel([("organization_id", ASCENDING), *_NEWEST_FIRST], name="of_organization"),
        IndexModel([("expires_at", ASCENDING)], name="lifetime", expireAfterSeconds=0),
    ],
}
"""Every index of every collection.  A changed index needs a new name, or a migration."""
