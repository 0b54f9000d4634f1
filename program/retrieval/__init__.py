"""From a plan to evidence: query candidates, source plans, reading whole collections, searching, and fusing results."""
