"""Answer parts from template sentences, and what parts have in common: boxes and quality.

A template sentence inherits tags and boxes from named subsets of observations, or from the region
or finding asked for (paper Sec. E.2.1). One that rests on no observation says the same in every
study but for the boxes: it is drafted once a shard.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cxrqba.qa.anatomy import Target
from cxrqba.qa.context import QaContext
from cxrqba.qa.evidence import Evidence, common_side
from cxrqba.qa.language import filled
from cxrqba.qa.model import NOWHERE, Content, Place, Tags, common_rank
from cxrqba.qa.quality import LOCALIZATION, NO_LOCALIZATION, Quality, localized, quality, worst
from cxrqba.qa.sampling import choose
from cxrqba.qa.source import Image
from cxrqba.qa.strategies.case import Case
from cxrqba.qa.templates import TARGET, Sentence

CERTAINTIES = ("certain", "likely", "uncertain")
NOTES = ("comparison only", "recommendation")
"""Child types that are told with their observation, whatever is asked."""

ImageQuality = tuple[tuple[str, str, int], ...]


@dataclass(slots=True, eq=False)
class Inherited:
    """What a template sentence takes from observations and from what the question asks for."""

    tags: Tags
    place: Place  # of regions: their boxes are still to come
    quality: Quality
    certainty: str
    obs_ids: tuple[str, ...]


@dataclass(slots=True, eq=False)
class Draft:
    """A template sentence in all its wordings."""

    texts: tuple[str, ...]
    name_tag: str
    inherited: Inherited


class Contents:
    """Contents of the answer parts of one study."""

    def __init__(self, evidence: Evidence, context: QaContext):
        graph = evidence.graph
        self._graph = graph
        self._context = context
        self.has_relations = bool(graph.relations)
        self._parents = {child: parent for parent, child, _ in graph.relations}
        self._notes: dict[str, list[Content]] = {}
        for parent, child, kind in graph.relations:
            if kind in NOTES and child in evidence.by_id:
                note = evidence.by_id[child].content
                if note.text:
                    self._notes.setdefault(parent, []).append(note)
        self._places: dict[tuple[str, ...], Place] = {}
        self._image_qualities: dict[tuple[int, ...], ImageQuality] = {}
        self._qualities: dict[tuple[Quality, ...], Quality] = {}

    def notes_of(self, content: Content) -> Sequence[Content]:
        """Contents of the recommendations and comparisons below an observation."""
        return self._notes.get(content.obs_ids[0], ())

    def parent_of(self, content: Content, among: Mapping[str, Content]) -> Content | None:
        """The nearest ancestor observation that is part of the same answer."""
        above = self._parents.get(content.obs_ids[0])
        seen: set[str] = set()
        while above is not None and above not in seen:
            if above in among:
                return among[above]
            seen.add(above)
            above = self._parents.get(above)
        return None

    # --- template sentences ----------------------------------------------------------------------

    def sentence(self, said: Sentence, case: Case, key: int) -> Content:
        """The content of a template sentence, with inherited tags, regions and boxes."""
        if not (case.is_plain and said.sources.isdisjoint(case.subsets)):
            text = filled(choose(said.texts, key), case.fill)
            name_tag = said.name.format_map(case.fill)
            return self.placed(Draft((), name_tag, self._inherited(said, case)), said, text)
        name = (said.id, case.value)
        draft = self._context.memory.drafts.get(name)
        if draft is None:
            draft = self._context.memory.drafts[name] = self.draft(said, case)
        return self.placed(draft, said, choose(draft.texts, key))

    def draft(self, said: Sentence, case: Case) -> Draft:
        """A template sentence in all its wordings, for a case that is plain."""
        return Draft(
            texts=tuple(filled(text, case.fill) for text in said.texts),
            name_tag=said.name.format_map(case.fill),
            inherited=self._inherited(said, case),
        )

    def placed(self, draft: Draft, said: Sentence, text: str) -> Content:
        """A draft in one wording, with the boxes of this study's regions."""
        inherited = draft.inherited
        place, of = inherited.place, inherited.quality
        if place.regions:
            place = self._region_place(place.regions)
            of = localized(of, place.rank)
        return Content(
            text,
            draft.name_tag,
            said.certainty or inherited.certainty,
            said.positiveness,
            False,  # not from the report
            said.id,
            inherited.tags,
            place,
            of,
            inherited.obs_ids,
        )

    def _inherited(self, said: Sentence, case: Case) -> Inherited:
        sources = (said.tags, said.boxes)
        found = case.inherited.get(sources)
        if found is None:
            found = case.inherited[sources] = self._inherit(said, case)
        return found

    def _inherit(self, said: Sentence, case: Case) -> Inherited:
        tagging = _subsets(said.tags, case, first_only=False)
        boxing = _subsets(said.boxes, case, first_only=True)
        sources = [*tagging, *(c for c in boxing if c not in tagging)] if tagging else boxing
        place, regions, side = self._where(said, case, boxing)
        target = case.target if TARGET in said.tags else None
        of = self.worst(sources)
        if not boxing and TARGET in said.boxes:
            of = worst((of, _target_quality(case.target)))
        return Inherited(
            tags=self._tags(tagging, boxing, target, regions, side),
            place=place,
            quality=of,
            certainty=_strongest(sources),
            obs_ids=_unique([o for c in sources for o in c.obs_ids]),
        )

    def _where(
        self, said: Sentence, case: Case, boxing: Sequence[Content]
    ) -> tuple[Place, tuple[str, ...], str]:
        """Boxes, regions and side of a template sentence."""
        if boxing:
            regions = _unique([r for c in boxing for r in c.tags.regions])
            return (
                self._common_place(boxing),
                regions,
                common_side([c.tags.laterality for c in boxing]),
            )
        if TARGET in said.boxes and case.target.regions:
            regions = case.target.regions
            return Place(regions=regions), regions, case.target.laterality
        return NOWHERE, (), "unknown"

    def _tags(
        self,
        tagging: Sequence[Content],
        boxing: Sequence[Content],
        target: Target | None,
        regions: tuple[str, ...],
        side: str,
    ) -> Tags:
        own = target.entities if target else ()
        entities = _unique([*own, *(e for c in tagging for e in c.tags.obs_entities)])
        of_findings = self._context.findings.tags(entities)
        subcategories = of_findings.subcategories
        if target and target.subcategories:
            subcategories = _unique([*target.subcategories, *subcategories])
        return Tags(
            laterality=side,
            regions=regions,
            obs_entities=entities,
            obs_entities_parents=of_findings.parents,
            obs_categories=of_findings.categories,
            obs_subcategories=subcategories,
            modifiers=boxing[0].tags.modifiers if len(boxing) == 1 and own else (),
        )

    # --- boxes and quality -----------------------------------------------------------------------

    def _region_place(self, regions: tuple[str, ...]) -> Place:
        place = self._places.get(regions)
        if place is None:
            shown = self._graph.region_images
            images = merged([shown[r] for r in regions if r in shown])
            place = self._places[regions] = Place((), regions, images, common_rank(images))
        return place

    def _common_place(self, contents: Sequence[Content]) -> Place:
        if len(contents) == 1:
            return contents[0].place
        obs_ids = _unique([o for c in contents for o in c.obs_ids])
        place = self._places.get(obs_ids)
        if place is None:
            images = merged([c.place.images for c in contents])
            place = self._places[obs_ids] = Place(obs_ids, (), images)
        return place

    def worst(self, contents: Sequence[Content]) -> Quality:
        """Worst rank per aspect over contents (Tab. 11); the same few come again and again."""
        key = tuple([c.quality for c in contents])
        found = self._qualities.get(key)
        if found is None:
            found = self._qualities[key] = worst(key)
        return found

    def image_quality(self, contents: Sequence[Content]) -> ImageQuality:
        """(image_id, view, worst localization rank) of each image that has boxes of any part.

        A part without boxes in an image that shows another makes it incomplete: no localization.
        """
        if not self._graph.images:
            return ()
        places = [c.place for c in contents if c.is_localizable]
        key = tuple([id(p) for p in places])  # places are kept as long as this object
        found = self._image_qualities.get(key)
        if found is None:
            found = self._image_qualities[key] = self._image_quality(places)
        return found

    def _image_quality(self, places: Sequence[Place]) -> ImageQuality:
        shown: dict[str, list[int]] = {}
        for place in places:
            for image_id, rank, boxes in place.images:
                if boxes:
                    shown.setdefault(image_id, []).append(rank)
        return tuple(
            (image_id, view, min(ranks) if len(ranks) == len(places) else NO_LOCALIZATION)
            for image_id, view in self._graph.images
            if (ranks := shown.get(image_id))
        )


def merged(several: Sequence[tuple[Image, ...]]) -> tuple[Image, ...]:
    """Images of several localizations, by id; the worst quality counts, boxes are united."""
    if len(several) == 1:
        return several[0]
    found: dict[str, Image] = {}
    for image in (one for images in several for one in images):
        image_id, rank, boxes = image
        known = found.get(image_id, image)
        found[image_id] = (image_id, min(rank, known[1]), boxes or known[2])
    return tuple(found[image_id] for image_id in sorted(found))


def _target_quality(target: Target) -> Quality:
    """Of tags and regions that the question itself gives, as good as boxes can make it."""
    levels = {"region_quality": "NO_REGIONS", LOCALIZATION: "NO_LOCALIZATION"}
    if target.regions:
        defaults = target.regions_are_defaults
        levels = {
            "region_quality": "DEFAULT_REGIONS_ONLY" if defaults else "RESOLVED_REGIONS_ONLY",
            LOCALIZATION: "BBOX_AND_MASK_LOCALIZATION",
        }
    if target.entities:
        levels["entity_quality"] = "RESOLVED_ENTITIES_ONLY"
    return quality(**levels)


def _subsets(names: Sequence[str], case: Case, *, first_only: bool) -> list[Content]:
    """Observations of the named subsets; ``first_only``: of the first that is not empty."""
    found: list[Content] = []
    for name in names:
        if name != TARGET:
            found.extend(case.basis.get(name) or case.subsets.get(name, ()))
            if found and first_only:
                break
    return found


def _strongest(contents: Sequence[Content]) -> str:
    stated = {c.certainty for c in contents}
    return next((c for c in CERTAINTIES if c in stated), "certain")


def _unique(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))
