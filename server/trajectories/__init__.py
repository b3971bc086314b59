"""What trajectories and workflows are allowed to become, how they are listed, and their JSON.

Handlers call it; it calls the store.
"""
