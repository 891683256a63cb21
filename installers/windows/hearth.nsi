; Hearth's installer for Windows, made by installers/windows/build.py, which gives these:
;   VERSION    as people read it: 0.1.0            QUAD  as Windows compares it: 0.1.0.0
;   PAYLOAD    the folder of the bundle            FILES the list of what lies at its top, an ini
;   KILOBYTES  what it takes on the disk           ICON  an .ico file
;   OUT        the installer to be written         SIGN  optional: a command that signs its last word
;   SIDE       optional: a picture for the last page, a bitmap of 328 by 628
;
; Words on the command line:
;   /S             no window                       /D=FOLDER    where to; last, and without quotes
;   /AllUsers      for the whole computer          /CurrentUser for oneself, without being asked
;   /Downgrade     over a newer version, with /S   /PURGE       Uninstall.exe: chats and models, too
; Exit codes: 0 done, 1 given up by the user, 2 not all could be written, 3 Hearth is running,
;   4 a newer version is installed, 5 no administrator, 6 the folder is not empty and not Hearth's,
;   7 this Windows is too old, 8 another installer of Hearth is running.

Unicode true
Target amd64-unicode
SetCompressor /SOLID lzma
ManifestDPIAware true
ManifestDPIAwareness "PerMonitorV2,System"
ManifestLongPathAware true
ManifestSupportedOS all
; Per user by default. Who wants all users is asked for an administrator by Elevate.
RequestExecutionLevel user
AllowSkipFiles off

!include MUI2.nsh
!include LogicLib.nsh
!include FileFunc.nsh
!include WordFunc.nsh
!include WinVer.nsh

!define WINDOW "hearthw.exe"
!define TERMINAL "hearth.exe"
!define PROG_ID "Hearth.gguf"
!define CLASSES "Software\Classes"
!define APP_PATHS "Software\Microsoft\Windows\CurrentVersion\App Paths"
!define UNINSTALL "Software\Microsoft\Windows\CurrentVersion\Uninstall\Hearth"
; PySide6 6.11 needs Windows 10 of 2018 (1809).
!define LEAST_BUILD 17763
!define ASKED_FOR 20 ; half seconds that a silent run waits for Hearth to end

Name "Hearth"
OutFile "${OUT}"
BrandingText "Hearth ${VERSION}"
; Its last part is added to a folder that is chosen with “Browse”.
InstallDir "$LOCALAPPDATA\Programs\Hearth"
ShowInstDetails nevershow
ShowUninstDetails nevershow

!ifdef SIGN
  !finalize '${SIGN} "%1"' = 0
  !uninstfinalize '${SIGN} "%1"' = 0
!endif

VIProductVersion "${QUAD}"
VIFileVersion "${QUAD}"
VIAddVersionKey /LANG=0 "ProductName" "Hearth"
VIAddVersionKey /LANG=0 "ProductVersion" "${VERSION}"
VIAddVersionKey /LANG=0 "FileVersion" "${VERSION}"
VIAddVersionKey /LANG=0 "FileDescription" "Hearth Setup"
VIAddVersionKey /LANG=0 "CompanyName" "The Hearth authors"
VIAddVersionKey /LANG=0 "LegalCopyright" "Apache License 2.0"

Var Everyone        ; 1 for the whole computer
Var Previous        ; the folder of the version that is installed, "" without one
Var PreviousVersion ; as Windows compares it
Var ForMe           ; the two buttons of the page that asks for whom
Var ForAll
Var Until
Var Mutex         ; held while this runs

!define MUI_ICON "${ICON}"
!define MUI_UNICON "${ICON}"
!ifdef SIDE
  !define MUI_WELCOMEFINISHPAGE_BITMAP "${SIDE}"
!endif
!define MUI_ABORTWARNING
!define MUI_FINISHPAGE_RUN
!define MUI_FINISHPAGE_RUN_FUNCTION StartHearth
!define MUI_FINISHPAGE_NOREBOOTSUPPORT
Page custom AskForWhom KnowForWhom
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_COMPONENTS
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"
!insertmacro MUI_LANGUAGE "German"
!include words.nsh

; ---------------------------------------------------------------- what both programs have

; Set the places for whom it is: SHCTX, $SMPROGRAMS, and $LOCALAPPDATA for those above.
!macro UseScope
  ${If} $Everyone == 1
    SetShellVarContext all
  ${Else}
    SetShellVarContext current
  ${EndIf}
!macroend

!macro Shared un
  ; Delete what the list in a folder names, the list and the uninstaller; then the folder, if
  ; nothing else is in it. What others have put there stays. On the stack: the folder.
  Function ${un}RemoveListed
    Exch $0
    Push $1
    Push $2
    StrCpy $1 0
    ${Do}
      ReadINIStr $2 "$0\Uninstall.ini" "files" "$1"
      ${If} $2 == ""
        ${ExitDo}
      ${EndIf}
      ${If} ${FileExists} "$0\$2\*.*"
        RMDir /r "$0\$2"
      ${Else}
        Delete "$0\$2"
      ${EndIf}
      IntOp $1 $1 + 1
    ${Loop}
    RMDir /r "$0\.hearth-new"
    RMDir /r "$0\.hearth-old"
    Delete "$0\Uninstall.ini"
    Delete "$0\Uninstall.exe"
    RMDir "$0"
    Pop $2
    Pop $1
    Pop $0
  FunctionEnd

  ; Whether a program in a folder runs: Windows lets nobody write to its file then.
  ; On the stack: the folder; left there: 1 or 0.
  Function ${un}Runs
    Exch $0
    Push $1
    Push $2
    StrCpy $2 0
    ClearErrors
    ${If} ${FileExists} "$0\${WINDOW}"
      FileOpen $1 "$0\${WINDOW}" a
      ${If} ${Errors}
        StrCpy $2 1
      ${Else}
        FileClose $1
      ${EndIf}
    ${EndIf}
    ClearErrors
    ${If} ${FileExists} "$0\${TERMINAL}"
      FileOpen $1 "$0\${TERMINAL}" a
      ${If} ${Errors}
        StrCpy $2 1
      ${Else}
        FileClose $1
      ${EndIf}
    ${EndIf}
    ClearErrors
    StrCpy $0 $2
    Pop $2
    Pop $1
    Exch $0
  FunctionEnd

  ; Have Hearth closed before its files are touched. A silent run waits ten seconds, as whoever
  ; starts it may just be ending. On the stack: the folder.
  Function ${un}HaveClosed
    Exch $0
    Push $1
    StrCpy $Until 0
    ${Do}
      Push $0
      Call ${un}Runs
      Pop $1
      ${If} $1 == 0
        ${ExitDo}
      ${EndIf}
      ${If} ${Silent}
        ${If} $Until >= ${ASKED_FOR}
          SetErrorLevel 3
          Quit
        ${EndIf}
        IntOp $Until $Until + 1
        Sleep 500
      ${ElseIf} ${Cmd} `MessageBox MB_RETRYCANCEL|MB_ICONEXCLAMATION "$(RUNS)" IDCANCEL`
        SetErrorLevel 3
        Quit
      ${EndIf}
    ${Loop}
    Pop $1
    Pop $0
  FunctionEnd

  ; Whether we may write for all users. Left on the stack: 1 or 0.
  Function ${un}IsAdministrator
    Push $0
    UserInfo::GetAccountType
    Pop $0
    ${If} $0 == "Admin"
      StrCpy $0 1
    ${Else}
      StrCpy $0 0
    ${EndIf}
    Exch $0
  FunctionEnd

  ; Let Explorer see the new or lost kinds of files: SHChangeNotify(SHCNE_ASSOCCHANGED).
  Function ${un}TellExplorer
    System::Call 'shell32::SHChangeNotify(i 0x08000000, i 0, p 0, p 0)'
  FunctionEnd
!macroend
!insertmacro Shared ""
!insertmacro Shared "un."

; ---------------------------------------------------------------- the installer

Function .onInit
  StrCpy $Everyone 0
  System::Call 'kernel32::CreateMutexW(p 0, i 0, w "HearthSetup") p .s ?e'
  Pop $0
  Pop $Mutex
  ${If} $0 = 183 ; ERROR_ALREADY_EXISTS
    MessageBox MB_OK|MB_ICONEXCLAMATION "$(TWICE)" /SD IDOK
    SetErrorLevel 8
    Quit
  ${EndIf}
  ${IfNot} ${AtLeastBuild} ${LEAST_BUILD}
    MessageBox MB_OK|MB_ICONSTOP "$(TOO_OLD)" /SD IDOK
    SetErrorLevel 7
    Quit
  ${EndIf}
  ${GetParameters} $0
  ClearErrors
  ${GetOptions} $0 "/AllUsers" $1
  ${IfNot} ${Errors}
    StrCpy $Everyone 1
    Call Elevate
  ${EndIf}
  Call FindPrevious
FunctionEnd

; Know what is installed for whom it is, and where this version goes: a folder that was given, the
; one that has it, or the usual one.
Function FindPrevious
  !insertmacro UseScope
  ReadRegStr $Previous SHCTX "${UNINSTALL}" "InstallLocation"
  ReadRegStr $PreviousVersion SHCTX "${UNINSTALL}" "VersionQuad"
  SetShellVarContext current
  ${If} $INSTDIR == "$LOCALAPPDATA\Programs\Hearth"
  ${OrIf} $INSTDIR == "$PROGRAMFILES64\Hearth"
    ${If} $Previous != ""
      StrCpy $INSTDIR $Previous
    ${ElseIf} $Everyone == 1
      StrCpy $INSTDIR "$PROGRAMFILES64\Hearth"
    ${Else}
      StrCpy $INSTDIR "$LOCALAPPDATA\Programs\Hearth"
    ${EndIf}
  ${EndIf}
  !insertmacro UseScope
FunctionEnd

; Start again as an administrator, who is asked for by Windows. Without a window nobody could be.
Function Elevate
  Call IsAdministrator
  Pop $0
  ${If} $0 == 1
    Return
  ${EndIf}
  ${If} ${Silent}
    SetErrorLevel 5
    Quit
  ${EndIf}
  StrCpy $1 "/AllUsers"
  ${If} $INSTDIR != "$LOCALAPPDATA\Programs\Hearth"
    StrCpy $1 "/AllUsers /D=$INSTDIR"
  ${EndIf}
  ; The one that is started has to find no other.
  System::Call 'kernel32::CloseHandle(p $Mutex)'
  ClearErrors
  ExecShell "runas" "$EXEPATH" "$1"
  ${If} ${Errors}
    MessageBox MB_OK|MB_ICONSTOP "$(NO_ADMINISTRATOR)"
    SetErrorLevel 5
  ${EndIf}
  Quit
FunctionEnd

Function AskForWhom
  ${GetParameters} $0
  ClearErrors
  ${GetOptions} $0 "/AllUsers" $1
  ${IfNot} ${Errors}
    Abort ; said already
  ${EndIf}
  ClearErrors
  ${GetOptions} $0 "/CurrentUser" $1
  ${IfNot} ${Errors}
    Abort
  ${EndIf}
  !insertmacro MUI_HEADER_TEXT "$(FOR_WHOM)" "$(FOR_WHOM_WHY)"
  nsDialogs::Create 1018
  Pop $0
  ${NSD_CreateRadioButton} 0 12u 100% 12u "$(FOR_ME)"
  Pop $ForMe
  ${NSD_CreateLabel} 12u 26u 95% 20u "$(FOR_ME_MEANS)"
  Pop $0
  ${NSD_CreateRadioButton} 0 52u 100% 12u "$(FOR_ALL)"
  Pop $ForAll
  ${NSD_CreateLabel} 12u 66u 95% 20u "$(FOR_ALL_MEANS)"
  Pop $0
  ${If} $Everyone == 1
    ${NSD_Check} $ForAll
  ${Else}
    ${NSD_Check} $ForMe
  ${EndIf}
  nsDialogs::Show
FunctionEnd

Function KnowForWhom
  ${NSD_GetState} $ForAll $0
  ${If} $0 == ${BST_CHECKED}
    StrCpy $Everyone 1
    Call Elevate
  ${Else}
    StrCpy $Everyone 0
  ${EndIf}
  Call FindPrevious
FunctionEnd

; Through Explorer, so that it never has an administrator's rights.
Function StartHearth
  Exec '"$WINDIR\explorer.exe" "$INSTDIR\${WINDOW}"'
FunctionEnd

; Ask before a newer version is replaced: an older one does not open its chats.
Function CheckVersion
  ${If} $PreviousVersion == ""
    Return
  ${EndIf}
  ${VersionCompare} "${QUAD}" "$PreviousVersion" $0
  ${If} $0 != 2
    Return
  ${EndIf}
  ${If} ${Silent}
    ${GetParameters} $0
    ClearErrors
    ${GetOptions} $0 "/Downgrade" $1
    ${IfNot} ${Errors}
      Return
    ${EndIf}
  ${ElseIf} ${Cmd} `MessageBox MB_YESNO|MB_DEFBUTTON2|MB_ICONQUESTION "$(NEWER)" IDYES`
    Return
  ${EndIf}
  SetErrorLevel 4
  Quit
FunctionEnd

Section "Hearth"
  Call CheckVersion
  Call PutBack ; what a run that was killed has left
  ${DirState} "$INSTDIR" $0
  ${If} $0 == 1
  ${AndIfNot} ${FileExists} "$INSTDIR\Uninstall.ini"
    MessageBox MB_OK|MB_ICONSTOP "$(NOT_OURS)" /SD IDOK
    SetErrorLevel 6
    Quit
  ${EndIf}
  Push $INSTDIR
  Call HaveClosed
  ${If} $Previous != ""
    Push $Previous
    Call HaveClosed
  ${EndIf}

  ; All of it is on the disk before anything of the old version goes.
  SetOutPath "$INSTDIR\.hearth-new"
  File /r "${PAYLOAD}\*.*"
  SetOutPath "$INSTDIR"
  File "/oname=$INSTDIR\.hearth-new.ini" "${FILES}"
  CreateDirectory "$INSTDIR\.hearth-old"
  Push "$INSTDIR\Uninstall.ini"
  Push "$INSTDIR"
  Push "$INSTDIR\.hearth-old"
  Call MoveListed
  ${IfNot} ${Errors}
    Push "$INSTDIR\.hearth-new.ini"
    Push "$INSTDIR\.hearth-new"
    Push "$INSTDIR"
    Call MoveListed
  ${EndIf}
  ${If} ${Errors}
    Call PutBack
    MessageBox MB_OK|MB_ICONSTOP "$(NOT_WRITTEN)" /SD IDOK
    SetErrorLevel 2
    Quit
  ${EndIf}
  Delete "$INSTDIR\Uninstall.ini"
  Rename "$INSTDIR\.hearth-new.ini" "$INSTDIR\Uninstall.ini"
  RMDir /r "$INSTDIR\.hearth-old"
  RMDir /r "$INSTDIR\.hearth-new"
  WriteINIStr "$INSTDIR\Uninstall.ini" "install" "everyone" "$Everyone"
  ${If} $Previous != ""
  ${AndIf} $Previous != $INSTDIR
    Push $Previous
    Call RemoveListed
  ${EndIf}

  WriteUninstaller "$INSTDIR\Uninstall.exe"
  CreateShortcut "$SMPROGRAMS\Hearth.lnk" "$INSTDIR\${WINDOW}" "" "$INSTDIR\${WINDOW}" 0
  Call Register
  Call TellExplorer
SectionEnd

; Move what a list names from a folder to another; the error flag is set if one stays.
; On the stack: the ini with the list, from, to.
Function MoveListed
  Exch $2
  Exch
  Exch $1
  Exch 2
  Exch $0
  Push $3
  Push $4
  StrCpy $3 0
  StrCpy $Until "" ; becomes "failed" with the first that stays
  ${Do}
    ReadINIStr $4 "$0" "files" "$3"
    ${If} $4 == ""
      ${ExitDo}
    ${EndIf}
    ${If} ${FileExists} "$1\$4"
      ClearErrors
      Rename "$1\$4" "$2\$4"
      ${If} ${Errors}
        StrCpy $Until "failed"
      ${EndIf}
    ${EndIf}
    IntOp $3 $3 + 1
  ${Loop}
  ClearErrors
  ${If} $Until == "failed"
    SetErrors
  ${EndIf}
  Pop $4
  Pop $3
  Pop $0
  Pop $2
  Pop $1
FunctionEnd

; Put back what was moved away, and remove what was not finished.
Function PutBack
  ${If} ${FileExists} "$INSTDIR\.hearth-old\*.*"
    ${If} ${FileExists} "$INSTDIR\.hearth-new.ini"
      Push "$INSTDIR\.hearth-new.ini"
      Push "$INSTDIR"
      Push "$INSTDIR\.hearth-new"
      Call MoveListed
      Push "$INSTDIR\Uninstall.ini"
      Push "$INSTDIR\.hearth-old"
      Push "$INSTDIR"
      Call MoveListed
    ${EndIf}
    RMDir /r "$INSTDIR\.hearth-old"
  ${EndIf}
  Delete "$INSTDIR\.hearth-new.ini"
  RMDir /r "$INSTDIR\.hearth-new"
FunctionEnd

; The disk is full, or whoever watches has had enough.
Function .onInstFailed
  SetOutPath "$TEMP"
  Call PutBack
  RMDir "$INSTDIR"
FunctionEnd

; Write what Windows knows of Hearth, under HKEY_CURRENT_USER or HKEY_LOCAL_MACHINE.
Function Register
  ; Models: one of several programs to open them with; which is the usual one, the user says.
  WriteRegStr SHCTX "${CLASSES}\${PROG_ID}" "" "$(GGUF)"
  WriteRegStr SHCTX "${CLASSES}\${PROG_ID}\DefaultIcon" "" '"$INSTDIR\${WINDOW}",0'
  WriteRegStr SHCTX "${CLASSES}\${PROG_ID}\shell\open\command" "" '"$INSTDIR\${WINDOW}" open "%1"'
  WriteRegNone SHCTX "${CLASSES}\.gguf\OpenWithProgids" "${PROG_ID}"
  WriteRegStr SHCTX "${CLASSES}\Applications\${WINDOW}" "FriendlyAppName" "Hearth"
  WriteRegStr SHCTX "${CLASSES}\Applications\${WINDOW}\SupportedTypes" ".gguf" ""
  WriteRegStr SHCTX "${CLASSES}\Applications\${WINDOW}\shell\open\command" "" '"$INSTDIR\${WINDOW}" open "%1"'

  ; Links that begin with hearth:
  WriteRegStr SHCTX "${CLASSES}\hearth" "" "URL:Hearth"
  WriteRegStr SHCTX "${CLASSES}\hearth" "URL Protocol" ""
  WriteRegStr SHCTX "${CLASSES}\hearth\DefaultIcon" "" '"$INSTDIR\${WINDOW}",0'
  WriteRegStr SHCTX "${CLASSES}\hearth\shell\open\command" "" '"$INSTDIR\${WINDOW}" open "%1"'

  ; Windows' settings list both under “Default apps”.
  WriteRegStr SHCTX "Software\Hearth\Capabilities" "ApplicationName" "Hearth"
  WriteRegStr SHCTX "Software\Hearth\Capabilities" "ApplicationDescription" "$(WHAT)"
  WriteRegStr SHCTX "Software\Hearth\Capabilities\FileAssociations" ".gguf" "${PROG_ID}"
  WriteRegStr SHCTX "Software\Hearth\Capabilities\URLAssociations" "hearth" "hearth"
  WriteRegStr SHCTX "Software\RegisteredApplications" "Hearth" "Software\Hearth\Capabilities"

  ; “hearth” in the Run dialog opens the window.
  WriteRegStr SHCTX "${APP_PATHS}\hearth.exe" "" "$INSTDIR\${WINDOW}"
  WriteRegStr SHCTX "${APP_PATHS}\hearth.exe" "Path" "$INSTDIR"

  WriteRegStr SHCTX "${UNINSTALL}" "DisplayName" "Hearth"
  WriteRegStr SHCTX "${UNINSTALL}" "DisplayVersion" "${VERSION}"
  WriteRegStr SHCTX "${UNINSTALL}" "VersionQuad" "${QUAD}"
  WriteRegStr SHCTX "${UNINSTALL}" "DisplayIcon" '"$INSTDIR\${WINDOW}",0'
  WriteRegStr SHCTX "${UNINSTALL}" "Publisher" "The Hearth authors"
  WriteRegStr SHCTX "${UNINSTALL}" "InstallLocation" "$INSTDIR"
  WriteRegStr SHCTX "${UNINSTALL}" "UninstallString" '"$INSTDIR\Uninstall.exe"'
  WriteRegStr SHCTX "${UNINSTALL}" "QuietUninstallString" '"$INSTDIR\Uninstall.exe" /S'
  WriteRegDWORD SHCTX "${UNINSTALL}" "EstimatedSize" ${KILOBYTES}
  WriteRegDWORD SHCTX "${UNINSTALL}" "NoModify" 1
  WriteRegDWORD SHCTX "${UNINSTALL}" "NoRepair" 1
FunctionEnd

; ---------------------------------------------------------------- the uninstaller

Section "un.Hearth" UN_HEARTH
  SectionIn RO
  Push $INSTDIR
  Call un.HaveClosed
  !insertmacro UseScope
  Delete "$SMPROGRAMS\Hearth.lnk"
  DeleteRegKey SHCTX "${CLASSES}\${PROG_ID}"
  DeleteRegValue SHCTX "${CLASSES}\.gguf\OpenWithProgids" "${PROG_ID}"
  DeleteRegKey /ifempty SHCTX "${CLASSES}\.gguf\OpenWithProgids"
  DeleteRegKey /ifempty SHCTX "${CLASSES}\.gguf"
  DeleteRegKey SHCTX "${CLASSES}\Applications\${WINDOW}"
  ; Another program may have taken the links since.
  ReadRegStr $0 SHCTX "${CLASSES}\hearth\shell\open\command" ""
  ${If} $0 == '"$INSTDIR\${WINDOW}" open "%1"'
    DeleteRegKey SHCTX "${CLASSES}\hearth"
  ${EndIf}
  DeleteRegValue SHCTX "Software\RegisteredApplications" "Hearth"
  DeleteRegKey SHCTX "Software\Hearth"
  DeleteRegKey SHCTX "${APP_PATHS}\hearth.exe"
  DeleteRegKey SHCTX "${UNINSTALL}"
  SetOutPath "$TEMP"
  Push $INSTDIR
  Call un.RemoveListed
  Call un.TellExplorer
SectionEnd

; Chats, settings and the models in Hearth's folder, of whoever runs this. What other programs
; share, as the Hub's cache, stays. Windows' own command is used since it removes a link to
; another disk, and not what lies there.
Section /o "un.Data" UN_DATA
  SetShellVarContext current
  ${If} ${FileExists} "$LOCALAPPDATA\hearth\chats.db"
  ${OrIf} ${FileExists} "$LOCALAPPDATA\hearth\settings.json"
    nsExec::Exec '"$SYSDIR\cmd.exe" /c rd /s /q "$LOCALAPPDATA\hearth"'
    Pop $0
    ${If} ${FileExists} "$LOCALAPPDATA\hearth\*.*"
      MessageBox MB_OK|MB_ICONEXCLAMATION "$(NOT_ALL_DELETED)" /SD IDOK
      SetErrorLevel 2
    ${EndIf}
  ${EndIf}
SectionEnd

!insertmacro MUI_UNFUNCTION_DESCRIPTION_BEGIN
  !insertmacro MUI_DESCRIPTION_TEXT ${UN_HEARTH} "$(UN_HEARTH_MEANS)"
  !insertmacro MUI_DESCRIPTION_TEXT ${UN_DATA} "$(UN_DATA_MEANS)"
!insertmacro MUI_UNFUNCTION_DESCRIPTION_END

Function un.onInit
  ReadINIStr $Everyone "$INSTDIR\Uninstall.ini" "install" "everyone"
  ${If} $Everyone == ""
    MessageBox MB_OK|MB_ICONSTOP "$(NOTHING_HERE)" /SD IDOK
    SetErrorLevel 6
    Quit
  ${EndIf}
  ${GetParameters} $0
  ${If} $Everyone == 1
    Call un.IsAdministrator
    Pop $1
    ${If} $1 == 0
      ${IfNot} ${Silent}
        ExecShell "runas" "$INSTDIR\Uninstall.exe" "$0"
      ${EndIf}
      SetErrorLevel 5
      Quit
    ${EndIf}
  ${EndIf}
  SectionSetText ${UN_DATA} "$(UN_DATA_NAME)"
  ClearErrors
  ${GetOptions} $0 "/PURGE" $1
  ${IfNot} ${Errors}
    !insertmacro SelectSection ${UN_DATA}
  ${EndIf}
FunctionEnd
