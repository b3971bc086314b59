"""Everything that knows Wayland: the protocols of wlroots, which sway and its kin speak.

desktop: a compositor by its socket.  input: the connection that injects.  view: the one that looks.
outputs: where the screens are.  pointer and keyboard: what is pressed.  keymap: the keyboard of our
own, with a place for any character.  left_behind: what a client that is killed leaves pressed, for
the next one.  pictures: several screens as one picture.  wire: the protocol itself.
"""
