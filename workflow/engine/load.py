"""Loads a FastWorkflow folder, as it is, into an immutable definition, or says everything that is wrong with it.

The order: whose commands these are (the folder's own and those of the workflows it is based on), which files there
are, what each of them says, how the contexts inherit, and the small files. Every step reports and goes on, so that
one start shows all there is to mend; a folder with any problem is not served.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from types import MappingProxyType, ModuleType

import attrs

from greenroom.workflow import compat
from greenroom.workflow.compat.routing import Published, Utterances
from greenroom.workflow.compat.workflow import GLOBAL
from greenroom.workflow.engine import core, discovery
from greenroom.workflow.engine.coercion import coerce
from greenroom.workflow.engine.definition import CommandDef, ContextDef, WorkflowDefinition
from greenroom.workflow.engine.imports import Codebase, kept_if, open_base, open_folder
from greenroom.workflow.engine.inheritance import resolve_commands
from greenroom.workflow.engine.printing import printed_by
from greenroom.workflow.engine.problems import Problem, WorkflowProblems, import_problem, line_of
from greenroom.workflow.engine.reading import read_command, read_context_class
from greenroom.workflow.engine.whereabouts import find_in


def load_workflow(folder: Path | str) -> WorkflowDefinition:
    """Raises `WorkflowProblems` with all of them. Imports the workflow's code, and prints nothing."""
    folder = Path(folder).resolve()
    if not folder.is_dir():
        raise WorkflowProblems(folder, [Problem(folder, "there is no such folder")])
    compat.install()
    importlib.invalidate_caches()
    loading = _Loading(folder)
    with printed_by(folder.name), kept_if(lambda: not loading.problems):
        definition = loading.definition()
    if loading.problems:
        raise WorkflowProblems(folder, loading.problems)
    compat.publish(folder, _published(definition))
    return definition


@attrs.define
class _Loading:
    """One load: what was found so far, and what is wrong with it."""

    folder: Path
    problems: list[Problem] = attrs.field(factory=list)
    codebases: list[Codebase] = attrs.field(factory=list)

    def definition(self) -> WorkflowDefinition:
        self._trace_lineage(open_folder(self.folder), ())
        commands, context_classes, context_files = self._read_code()
        bases: dict[str, tuple[str, ...]] = {}
        parents: dict[str, tuple[str, ...]] = {}
        for codebase in self.codebases:
            bases.update(discovery.read_context_inheritance(codebase.folder, self.problems.append))
            parents.update(discovery.read_context_hierarchy(codebase.folder, self.problems.append))
        inheritance_file = self.folder / discovery.COMMANDS / "context_inheritance_model.json"
        resolved = resolve_commands(commands, bases, inheritance_file, self.problems.append)
        definition = WorkflowDefinition(
            name=self.folder.name,
            folder=self.folder,
            description=discovery.read_description(self.folder, self.problems.append),
            contexts=MappingProxyType(
                {
                    name: ContextDef(
                        name=name,
                        commands=MappingProxyType(resolved[name]),
                        bases=bases.get(name, ()),
                        parents=parents.get(name, ()),
                        file=context_files.get(name),
                        context_class=context_classes.get(name),
                    )
                    for name in sorted(resolved)
                }
            ),
            core=MappingProxyType(dict(core.COMMANDS)),
            startup_action=discovery.read_startup_action(self.folder, self.problems.append),
        )
        self._check_startup(definition)
        return definition

    def _trace_lineage(self, codebase: Codebase, above: tuple[Path, ...]) -> None:
        """Bases first, so that whoever comes later wins."""
        folder = codebase.folder
        file = folder / "workflow_inheritance_model.json"
        for named in discovery.read_workflow_bases(folder, self.problems.append):
            base = open_base(named, folder)
            if base is None or not (base.folder / discovery.COMMANDS).is_dir():
                self._report_base(file, named, "is no workflow that could be found")
            elif base.folder in (*above, folder):
                self._report_base(file, named, "is based on this workflow in turn")
            elif base not in self.codebases:
                self._trace_lineage(base, (*above, folder))
        self.codebases.append(codebase)

    def _report_base(self, file: Path, named: str, what: str) -> None:
        self.problems.append(Problem(file, f"the base {named!r} {what}", discovery.line_in(file, named)))

    def _read_code(self) -> tuple[dict[tuple[str, str], CommandDef], dict[str, type], dict[str, Path]]:
        command_files: dict[tuple[str, str], tuple[Codebase, Path]] = {}
        context_files: dict[str, tuple[Codebase, Path]] = {}
        for codebase in self.codebases:
            is_base = codebase.folder != self.folder
            found = discovery.find_files(codebase.folder, self.problems.append, is_base=is_base)
            command_files.update({key: (codebase, file) for key, file in found.commands.items()})
            context_files.update({name: (codebase, file) for name, file in found.contexts.items()})
        commands: dict[tuple[str, str], CommandDef] = {}
        for (context, name), (codebase, file) in sorted(command_files.items()):
            module = self._load(codebase, file)
            command = module and read_command(module, file, context, self.problems.append)
            if command:
                commands[context, name] = command
        classes: dict[str, type] = {}
        for name, (codebase, file) in sorted(context_files.items()):
            module = self._load(codebase, file)
            context_class = module and read_context_class(module, file, self.problems.append)
            if context_class:
                classes[name] = context_class
        return commands, classes, {name: file for name, (_, file) in context_files.items()}

    def _load(self, codebase: Codebase, file: Path) -> ModuleType | None:
        try:
            return codebase.load(file)
        # The workflow's own code: whatever it raises is a problem of the file, and an exit too.
        except (Exception, SystemExit) as error:
            problem = import_problem(file, codebase.folder, error)
            if problem not in self.problems:
                self.problems.append(problem)
            return None

    def _check_startup(self, definition: WorkflowDefinition) -> None:
        """A first turn that cannot succeed is better known now."""
        action = definition.startup_action
        if action is None or self.problems:
            return
        file = self.folder / "startup_action.json"
        text = file.read_text("utf-8-sig")
        command = find_in(definition, GLOBAL, action.command_name)
        if command is None:
            message = f"there is no command {action.command_name!r} in the global context"
            self.problems.append(Problem(file, message, line_of(text, "command_name")))
            return
        _, errors = coerce(command.parameters, action.parameters)
        self.problems += [Problem(file, error.problem, line_of(text, "parameters")) for error in errors]


def _published(definition: WorkflowDefinition) -> Published:
    def utterances(command: CommandDef) -> Utterances:
        return Utterances(list(command.plain_utterances), list(command.template_utterances))

    commands = {command.qualified_name: lambda command=command: utterances(command) for command in definition.commands}
    return Published(tuple(definition.contexts), commands)
