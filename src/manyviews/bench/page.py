"""temporary"""
def render_page(comparison, records):
    return ""
